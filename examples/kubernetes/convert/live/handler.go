package live

// Handler feeds what informers tell. It has the methods of client-go's
// cache.ResourceEventHandler; the same one may be added to the informers of all kinds.
type Handler struct {
	Feeder *Feeder

	// Failed is told of each object that could not be fed, by the goroutines of the
	// informers. It must be set: nobody else would know that the planner is behind.
	Failed func(object any, err error)

	// Final gives the object that stands in what an informer says of a deletion that it
	// missed: with client-go, the Obj of a cache.DeletedFinalStateUnknown. nil: objects
	// come as they are.
	Final func(object any) any
}

// OnAdd sets object.
func (h *Handler) OnAdd(object any, _ bool) { h.told(object, h.Feeder.Set(object)) }

// OnUpdate sets the newer object.
func (h *Handler) OnUpdate(_, object any) { h.told(object, h.Feeder.Set(object)) }

// OnDelete removes object.
func (h *Handler) OnDelete(object any) {
	if h.Final != nil {
		object = h.Final(object)
	}
	h.told(object, h.Feeder.Remove(object))
}

func (h *Handler) told(object any, err error) {
	if err != nil {
		h.Failed(object, err)
	}
}
