// Package scenario reads questions from plain text and writes down how they were
// answered, so that behaviour is kept as text that people review.
//
// A scenario is a paragraph of comment that says the behaviour, the question, a line of
// four dashes, and the transcript of the answer. A file has many, each below its name.
//
//	== all-takes-everybody
//	# Mode All: the whole group goes even where one pod would do.
//	nodes   n1 cpu=4   n2 cpu=4
//	group   train mode=All prio=10   t0@n1 cpu=4   t1@n2 cpu=4
//	preempt web prio=1000 cpu=2
//	----
//	feasible on n1; victims train(t0 t1); violations 0
//
// A line is a word that says what follows, then objects: a name and what is known
// of it as key=value. An indented line continues the one above.
//
//	nodes      NAME ...            cpu=4 memory=8Gi pods=10 example.com/gpu=2 labels=zone=a,disk=ssd
//	                               taints=dedicated=ml:NoSchedule cordoned=yes
//	pods       NAME@NODE ...       running; without @NODE pending. A name may be NAMESPACE/NAME
//	                               cpu=500m memory=1Gi prio=10 class=high policy=Never uid=u1
//	                               labels=app=web start=10:05 scheduled=10:04 created=10:03
//	                               nominated=n1 required=n1 ports=80,53/UDP,10.0.0.1:443/TCP
//	                               select=zone=a affinity=zone:In:a|b,disk:Exists;@metadata.name:In:n1
//	                               tolerate=dedicated=ml:NoSchedule,weight<5,spare,*
//	                               terminating=yes (or preempted) group=train owner=Job/train
//	                               near=app=db@zone apart=app=web@zone spread=app=web@zone:1 tokens=claim
//	                               guaranteed=10m wait=30 standby=yes levels=1h:20,2h:0 evicted=11:50,t5 ran=1h
//	                               cost=5 checkpoint=11:00 restart=60 costs=1m:100,10m:0
//	group      NAME ... then pods  mode=All prio=10 min=2 basic=yes parent=job class=high policy=Never
//	                               topology=zone,rack (zone? is only preferred)
//	                               mode=SurplusFirst leader=t0
//	composite  NAME ...            mode=All prio=10 min=2 parent=job class=high policy=Never
//	budget     NAME ...            allowed=1 select=app=web,tier:In:a|b (select=* is the empty selector)
//	                               disrupted=p1,p2
//	class      NAME ...            value=1000 policy=Never default=yes guaranteed=10m wait=30
//	                               minimum-preemptable=10000 toleration-seconds=600
//	namespace  NAME ...            labels=team=ml
//	now        12:00 ...           what time it is, asked once for each; without it 12:00
//	rules      NAME ...            asked once for each; without it the default rules
//	sampling   percent=40 minimum=1 offset=4 ...   each line asks once more
//	options    strict=yes members=MinCount placement=Pack lowest=yes repeat=on broken-free=yes
//	                               toleration=Design guaranteed=10m equal-after=1h cooldown=2/1h protect=app=web
//	                               wait=30 no-cascade=yes apart=yes max-lead=100 movable=yes
//	                               hard=all (or budget names) steps=100 max-victims=1 max-pods=2 max-cost=3
//	                               only-moves=yes chain=2
//	                               window=1h:victims:1,pods:2 cost-at=1 cost-orders=yes cheapest=yes
//	                               price=fixed:1,milestones:1,restart:2,pods:10,work.cpu:1/1000
//	earlier    11:50 victims=1 ... a preemption of the past: pods=2 cost=3
//	preempt    NAME key=value ...  a pod that is not in the snapshot
//	preempt    pod NAME            a pending pod of the snapshot; or podgroup, or compositepodgroup
//	place      POD@NODE ...        where members of the last one go: given, not searched
//
// Times are of 2026-01-02, UTC; t5 is 10:05. The default namespace is "default"
// and not written down in the transcript.
package scenario
