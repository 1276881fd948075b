package documents

import "testing"

const manualRST = `:orphan:

Garden club
===========

:Key holder: Bo Lund, who lives
   next door
:Address:
   Mill Lane 3

.. |club| replace:: The Garden Club

Hours of the shed::
-------------------

|club| opens the shed at nine. Start the pump::

    pump --start

.. versionadded:: 2.1
   The pump has a timer.

.. deprecated:: 3.0

-a, --all         show all tools
--depth=N         how deep the bed is,
                  in cm
-f FILE, --file FILE  where the plan is

.. function:: water(bed, litres=10)

   :param bed: the bed to water
   :param int litres: how much it gets
   :returns: what is left
`

const manualShown = `title Garden club
l Key holder: Bo Lund, who lives next door
l Address: Mill Lane 3
# Hours of the shed
p The Garden Club opens the shed at nine. Start the pump:
c pump --start
p New in version 2.1: The pump has a timer.
p Deprecated since version 3.0
l -a, --all: show all tools
l --depth=N: how deep the bed is, in cm
l -f FILE, --file FILE: where the plan is
l Function: water(bed, litres=10)
l bed: the bed to water
l litres: how much it gets
l returns: what is left`

func TestManualRST(t *testing.T) {
	doc, err := Parse(t.Context(), "a.rst", []byte(manualRST))
	if got := show(doc); got != manualShown || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, manualShown)
	}
}
