package answers

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// Together returns one set in which each question of some sets is asked among the documents of all of them. A document's name
// gets a folder, since several sets may have files of one name. A question that another set asks before, in the same words, is
// left out: the answers to either would be right. A follow-up stays, since its conversation is its own.
func Together(sets []Set) Set {
	var all World
	asked := map[string]bool{}
	n := 0
	for _, s := range sets {
		for _, w := range s.Worlds {
			n++
			here := func(name string) string { return path.Join(strconv.Itoa(n), name) }
			for i, side := range w.Sides {
				for _, d := range side {
					all.Sides[i] = append(all.Sides[i], Document{here(d.Name), d.Data})
				}
			}
			before := len(all.Questions)
			for _, q := range w.Questions {
				if q.Before == nil && asked[strings.ToLower(q.conversation())] {
					continue
				}
				q.ID, q.Names = here(q.ID), slices.Clone(q.Names)
				for i := range q.Names {
					q.Names[i] = here(q.Names[i])
				}
				all.Questions = append(all.Questions, q)
			}
			for _, q := range all.Questions[before:] {
				asked[strings.ToLower(q.conversation())] = true
			}
		}
	}
	return Set{"together", []World{all}}
}
