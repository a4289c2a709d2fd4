------------------------------- MODULE Changes -------------------------------
(* Models the queue of the unit of work on stores that save documents one by one. Changes wait in the sequence of     *)
(* their calls. Several batches are saved at the same time. A batch reads its documents, and writes each of them with *)
(* a guard. If documents were not written, the batch runs their changes again.                                        *)
(*                                                                                                                    *)
(* A document is the sequence of its changes. A change that runs again moves to the end.                              *)
EXTENDS Naturals, Sequences

CONSTANTS None,
          MaxFaults,     \* the limit of batches whose save fails, so that some documents are not written
          (* Guards of the code. FALSE removes a guard. *)
          OneBatchForADocument, RedoLaterChanges

Batches == {"A", "B"}
Changes == 1..4
Docs    == {"x", "y"}
(* Change 1 also reads the document of change 2. *)
DocOf   == <<"x", "y", "x", "y">>
Asked(c) == IF c = 1 THEN {"x", "y"} ELSE {DocOf[c]}

VARIABLES doc,      \* the stored documents
          waiting,  \* the queue
          open,     \* batch -> its changes that still have to be saved
          read,     \* batch -> the documents that it has read, or None
          faults

vars == <<doc, waiting, open, read, faults>>

Init == /\ doc = [d \in Docs |-> <<>>] /\ waiting = <<1, 2, 3, 4>>
        /\ open = [b \in Batches |-> <<>>] /\ read = [b \in Batches |-> None] /\ faults = 0

DocsOf(changes) == {DocOf[changes[i]] : i \in DOMAIN changes}
In(changes, c)  == \E i \in DOMAIN changes : changes[i] = c

(* A batch takes the first waiting changes, except those whose document is in another batch. A batch has a limited    *)
(* size.                                                                                                              *)
Take(b) ==
  LET busy == UNION {DocsOf(open[other]) : other \in Batches}
      free == SelectSeq(waiting, LAMBDA c : OneBatchForADocument => DocOf[c] \notin busy)
  IN
  /\ open[b] = <<>>
  /\ \E n \in 1..Len(free) :
       LET batch == SubSeq(free, 1, n) IN
       open' = [open EXCEPT ![b] = batch] /\ waiting' = SelectSeq(waiting, LAMBDA c : ~In(batch, c))
  /\ UNCHANGED <<doc, read, faults>>

Read(b) == /\ open[b] # <<>> /\ read[b] = None /\ read' = [read EXCEPT ![b] = doc]
           /\ UNCHANGED <<doc, waiting, open, faults>>

(* The text of a document after the first n changes of the batch. *)
RECURSIVE Staged(_, _, _)
Staged(b, d, n) ==
  IF n = 0 THEN read[b][d]
  ELSE LET before == Staged(b, d, n - 1)  c == open[b][n] IN
       IF DocOf[c] = d THEN Append(SelectSeq(before, LAMBDA other : other # c), c) ELSE before

(* The changes that run again: those that wrote or read a missing document, and all changes of the documents of such  *)
(* changes.                                                                                                           *)
RECURSIVE Uncertain(_, _)
Uncertain(changes, docs) ==
  LET more == docs \cup {DocOf[c] : c \in {c \in Changes : In(changes, c) /\ Asked(c) \cap docs # {}}} IN
  IF more = docs THEN docs ELSE Uncertain(changes, more)
Affected(changes, missing) ==
  LET docs == IF RedoLaterChanges THEN Uncertain(changes, missing) ELSE missing IN
  SelectSeq(changes, LAMBDA c : Asked(c) \cap docs # {})

(* Each text of a document is unique in this model, so it is also the etag. *)
Save(b, lost) ==
  LET text    == [d \in Docs |-> Staged(b, d, Len(open[b]))]
      missing == {d \in DocsOf(open[b]) : d \in lost \/ doc[d] # read[b][d]}
  IN
  /\ read[b] # None
  /\ doc' = [d \in Docs |-> IF d \in DocsOf(open[b]) \ missing THEN text[d] ELSE doc[d]]
  /\ open' = [open EXCEPT ![b] = Affected(@, missing)] /\ read' = [read EXCEPT ![b] = None]
  /\ UNCHANGED waiting

Next == \E b \in Batches :
  \/ Take(b) \/ Read(b) \/ (Save(b, {}) /\ UNCHANGED faults)
  \/ faults < MaxFaults /\ faults' = faults + 1 /\ \E lost \in SUBSET Docs : Save(b, lost)
Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* The changes of a document take effect in the sequence of their calls. *)
CallsInSequence == \A d \in Docs : \A i, j \in DOMAIN doc[d] : i < j => doc[d][i] < doc[d][j]
=============================================================================
