------------------------------- MODULE Batch -------------------------------
(* Models the unit of work of strategy "independent". Concurrent operations, called works here, share a batch. A work *)
(* sees the changes that earlier works of its batch have made. Then the batch saves the document with a guard. If the *)
(* save fails, the batch reads the document again. If the batch finds its own text, all its works are done. Otherwise *)
(* works that made or saw a change are decided again.                                                                 *)
(*                                                                                                                    *)
(* The document holds facts, at most one of each kind, as a payment holds one decision and one refund. A work adds    *)
(* its fact if the document has no fact of this kind. Otherwise the work writes nothing: it returns the existing fact *)
(* or throws an error.                                                                                                *)
EXTENDS Naturals, Sequences

CONSTANTS None,
          MaxFaults,     \* the limit of saves with an unknown outcome
          (* Guards of the code. FALSE removes a guard. *)
          CreateOnly, Etag, RedoLookers, RedoThrown

(* The batches may run in one process or in several, because they share no memory. *)
Batches == {"A", "B", "C"}
WorksOf == [A |-> <<"a1", "a2">>, B |-> <<"b1", "b2">>, C |-> <<"c1">>]
Works   == {"a1", "a2", "b1", "b2", "c1"}
Kind(w) == CASE w = "b2" -> "cancellation" [] w = "c1" -> "refund" [] OTHER -> "charge"

VARIABLES doc,     \* the stored facts
          step,    \* batch -> "idle", "decided", "failed", "done"
          read,    \* batch -> the document that it has read
          text,    \* batch -> the document that it will write
          saw,     \* work -> the fact of its kind that it made or found
          answer,  \* work -> the fact that its caller has received, or None
          throws,  \* works that throw if they find another work's fact
          late,    \* saves that may still take effect after their caller has stopped waiting
          faults

vars == <<doc, step, read, text, saw, answer, throws, late, faults>>

Init == /\ doc = {} /\ step = [b \in Batches |-> "idle"] /\ read = [b \in Batches |-> {}] /\ text = [b \in Batches |-> {}]
        /\ saw = [w \in Works |-> None] /\ answer = [w \in Works |-> None] /\ late = {} /\ faults = 0
        /\ throws \in SUBSET {"a2"}

OfKind(facts, w) == {f \in facts : Kind(f) = Kind(w)}
With(facts, w)   == IF OfKind(facts, w) = {} THEN facts \cup {w} ELSE facts
Found(facts, w)  == CHOOSE f \in OfKind(With(facts, w), w) : TRUE
Tell(some) == answer' = [w \in Works |-> IF w \in some THEN saw[w] ELSE answer[w]]

(* Open is the sequence of unanswered works. Staged is the document after the first n of these works. *)
Open(b)  == SelectSeq(WorksOf[b], LAMBDA w : answer[w] = None)
InOpen(b, w) == \E i \in DOMAIN Open(b) : Open(b)[i] = w
OpenSet(b) == {w \in Works : InOpen(b, w)}
Place(b, w)  == CHOOSE i \in DOMAIN Open(b) : Open(b)[i] = w
RECURSIVE Staged(_, _)
Staged(b, n) == IF n = 0 THEN doc ELSE With(Staged(b, n - 1), Open(b)[n])

Decide(b) ==
  /\ step[b] = "idle"
  /\ read' = [read EXCEPT ![b] = doc] /\ text' = [text EXCEPT ![b] = Staged(b, Len(Open(b)))]
  /\ step' = [step EXCEPT ![b] = "decided"]
  /\ saw' = [w \in Works |-> IF InOpen(b, w) THEN Found(Staged(b, Place(b, w) - 1), w) ELSE saw[w]]
  /\ UNCHANGED <<doc, answer, throws, late, faults>>

Guarded(was) == IF was = {} THEN CreateOnly ELSE Etag
(* Each text of the document is unique in this model, so it is also the etag. *)
Passes(was)  == Guarded(was) => doc = was

Save(b) ==
  /\ step[b] = "decided"
  /\ IF text[b] = read[b] \/ Passes(read[b])
       THEN /\ doc' = IF text[b] = read[b] THEN doc ELSE text[b]
            /\ step' = [step EXCEPT ![b] = "done"] /\ Tell(OpenSet(b))
       ELSE step' = [step EXCEPT ![b] = "failed"] /\ UNCHANGED <<doc, answer>>
  /\ UNCHANGED <<read, text, saw, throws, late, faults>>

SaveUnknown(b) ==
  /\ step[b] = "decided" /\ text[b] # read[b] /\ faults < MaxFaults /\ faults' = faults + 1
  /\ step' = [step EXCEPT ![b] = "failed"]
  /\ \/ doc' = (IF Passes(read[b]) THEN text[b] ELSE doc) /\ UNCHANGED late
     \/ late' = late \cup {[was |-> read[b], text |-> text[b]]} /\ UNCHANGED doc
  /\ UNCHANGED <<read, text, saw, answer, throws>>

LandLate(w) ==
  /\ doc' = (IF Passes(w.was) THEN w.text ELSE doc) /\ late' = late \ {w}
  /\ UNCHANGED <<step, read, text, saw, answer, throws, faults>>

(* Facts that the batch has read are stored. Facts that it has staged may be missing, so works that saw such a fact *)
(* are decided again.                                                                                               *)
ReadBack(b) ==
  LET staged  == {w \in OpenSet(b) : saw[w] \notin read[b]}
      wrote   == {w \in staged : saw[w] = w}
      thrown  == (staged \ wrote) \cap throws
      looked  == (staged \ wrote) \ throws
      redone  == wrote \cup (IF RedoLookers THEN looked ELSE {}) \cup (IF RedoThrown THEN thrown ELSE {})
  IN
  /\ step[b] = "failed"
  /\ IF doc = text[b] THEN step' = [step EXCEPT ![b] = "done"] /\ Tell(OpenSet(b))
                      ELSE step' = [step EXCEPT ![b] = "idle"] /\ Tell(OpenSet(b) \ redone)
  /\ UNCHANGED <<doc, read, text, saw, throws, late, faults>>

Step(b) == Decide(b) \/ Save(b) \/ ReadBack(b)
Next == (\E b \in Batches : Step(b) \/ SaveUnknown(b)) \/ \E w \in late : LandLate(w)
Spec == Init /\ [][Next]_vars /\ \A b \in Batches : WF_vars(Step(b))

-----------------------------------------------------------------------------
(* The document never has two facts of the same kind, so there is one payment. *)
OneOfAKind == \A f, g \in doc : Kind(f) = Kind(g) => f = g
(* A work answers with a fact, or throws because of a fact. Each such fact is stored and never changes, so all works *)
(* of a kind get the same fact.                                                                                      *)
AnswersStored == \A w \in Works : answer[w] # None => answer[w] \in doc

AllAnswered == <>(\A w \in Works : answer[w] # None)
=============================================================================
