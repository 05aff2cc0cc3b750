"""Audits: whether entrants played for themselves or for each other, from records alone.

Owns what `weigh audit` computes and how it is shown. Knows no provider and plays nothing. `seats` reads records,
`literal_index` takes the game's own index apart, `directed` tests who stands aside for whom, `gains` says who had it,
`collusion` puts them together, `audit_sections` and `audit_forms` show it.
"""
