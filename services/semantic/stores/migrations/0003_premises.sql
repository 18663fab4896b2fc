-- A statement can hold no more because one that it rests on was superseded.

-- That one, and its place: the interaction and the number of the sentence. Empty where there is none.
ALTER TABLE supersessions ADD COLUMN premise text NOT NULL DEFAULT '';
ALTER TABLE supersessions ADD COLUMN premise_place text NOT NULL DEFAULT '';
