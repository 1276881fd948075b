package npu

// Join concatenates graphs: the result of each is the input "x" of the next. It is for devices on which the beginning
// and end of a run cost something; see Traits.LayersAtOnce.
func Join(graphs ...*Graph) *Graph {
	out := NewGraph(graphs[0].Name, graphs[0].Chunk)
	if len(graphs) > 1 {
		out.Name += " to " + graphs[len(graphs)-1].Name
	}
	for k, g := range graphs {
		before := Value(len(out.Nodes) - 1)
		moved := make([]Value, len(g.Nodes))
		for i, n := range g.Nodes {
			if k > 0 && n.Op == OpInput {
				moved[i] = before
				continue
			}
			args := make([]Value, len(n.Args))
			for j, a := range n.Args {
				args[j] = moved[a]
			}
			n.Args = args
			moved[i] = out.add(n)
		}
	}
	return out
}
