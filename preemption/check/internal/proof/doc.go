// Package proof adds up what a proof says of one node, or of one attempt of a queue.
//
// A [Node] tells in numbers who may go from it and what counts. [Node.Shows] multiplies and adds,
// case by case, and says what does not add up. It believes nothing of the proof, and ends after as many
// steps as that has cases, each of one pass over those who may go.
package proof
