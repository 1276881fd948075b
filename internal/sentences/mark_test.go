package sentences

import "testing"

// The mark of an item is its bullet or its number, but not a number that belongs to the text.
func TestItemMark(t *testing.T) {
	for text, want := range map[string]int{
		"- The key is in the tin.": 2, "  * The key": 4, "• The key": 4, "4. Bonfires are forbidden.": 3, "12) Shed. It is locked.": 4,
		"3. April. Hive 1 was alive.": 0, "3. Oktober ist Feiertag": 0, "2. Reihe: Familie Müller": 0, "3. eggs": 0, "10.30 is tea": 0, "- ": 0, "": 0,
	} {
		if n := ItemMark(text); n != want {
			t.Errorf("%q: %d, want %d", text, n, want)
		}
	}
}
