package answers

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// Together returns one set in which each question of some sets is asked among the documents of all of them. A document's name
// gets a folder, since several sets may have files of one name. A question that another set asks before, in the same words, is
// left out: the answers to either would be right.
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
				if asked[strings.ToLower(q.conversation())] {
					continue
				}
				q.ID, q.Names, q.Without = here(q.ID), slices.Clone(q.Names), slices.Clone(q.Without)
				for _, names := range [][]string{q.Names, q.Without} {
					for i := range names {
						names[i] = here(names[i])
					}
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
