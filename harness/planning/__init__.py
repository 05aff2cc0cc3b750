"""What a ladder will cost, how long it will take and what it will be able to see, worked out before anything is spent.

Owns all of `weigh plan` but its options. `stand_in` and `pilots` count prompts on episodes that are played offline;
`past` reads what an earlier run measured; `estimates`, `wall` and `ceilings` make sums of both; `spread`, `power` and
`sight` say what differences the blocks can show; `ladder_plan` puts it together and `lines` tells it. Nothing here asks
a model, needs a key, or writes.
"""
