"""The text of the made page: a head and two columns of (style, line). Styles are named in tools/make_page.py.

A tab splits a line in two cells, one at each edge of the column.
"""

Lines = list[tuple[str, str]]

HEAD: Lines = [
    ("title", "Notes from a Small Harbour"),
    ("caption", "Issue 27, printed on 14 March; 6 pages, 350 copies, no adverts."),
]

LEFT: Lines = [
    ("text", "The tide table on the wall is two years old, and nobody minds."),
    ("text", "At 05:40 the first boat leaves with nine crates and a radio that"),
    ("text", "only finds one station. The skipper, Mrs. Okafor, says it plays"),
    ("text", 'the same waltz every day: "Once is music, thrice is weather."'),
    ("text", "By 7:15 the bakery has sold 84 rolls, 12 loaves and one cake."),
    ("text", "Rain is measured in an old jam jar (capacity 0.75 litres), and"),
    ("text", "the record, 61.5 mm in a day, is marked with a strip of tape."),
    ("heading", "Prices at the quay"),
    ("table", "Rope, hemp, 10 m\t18.90"),
    ("table", "Lamp oil, 2 litres\t7.45"),
    ("table", "Brass hooks, box of 24\t31.00"),
    ("table", "Tea, per cup (milk: +5%)\t1.20"),
    ("heading", "Lost and found"),
    ("text", "Found near bollard 8: one left boot, size 43, quite dry. Lost:"),
    ("text", "a grey umbrella; its owner knows it by the bent sixth rib."),
    ("text", "Ask at the office, door B, on weekdays from 9 to 12 o'clock."),
]

RIGHT: Lines = [
    ("heading", "A short history of the clock"),
    ("text", "The clock above the chandler's shop came by sea in 1888 and"),
    ("text", "was wound each Sunday by the same family for 71 years. When"),
    ("text", "the last of them moved inland, the key was left in a teapot,"),
    ("text", "where it stayed until a visitor asked for Darjeeling. Since then"),
    ("text", "it has run 4 minutes fast, which the ferry takes into account."),
    ("heading", "How to mend a net"),
    ("text", "1. Hang it in the shade and look for holes wider than a hand."),
    ("text", "2. Cut away loose ends; leave 3 knots on every side."),
    ("text", "3. Work from the top, left to right, and do not hurry."),
    ("text", "4. Count the meshes twice: 48 across, 120 down."),
    ("heading", "Letters"),
    ("text", '"Is the bench by the slipway really 2.4 metres long?" asks'),
    ("text", "J. Whitlock. We measured it: 2.38 m, and one loose screw."),
    ("text", "Questions? Ring 555-0142 and let it ring at least 7 times!"),
    ("caption", "Set by hand, read by lamplight, folded exactly 3 times."),
]
