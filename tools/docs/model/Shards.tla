------------------------------- MODULE Shards ------------------------------
(* Models the list of stored documents with strategy "independent": each write is a separate call.                   *)
(*                                                                                                                   *)
(* A list lane (Shard) is a sequence of chunks 0, 1, 2, ... A process begins a chunk only if the chunk is missing    *)
(* (create-only), and then rewrites it without a guard. A batch gives its document a slot, saves the chunk with the  *)
(* slot, then creates the document, which names the slot. The outcome of an unanswered write is unknown: it takes    *)
(* effect at once, late or never.                                                                                    *)
EXTENDS Naturals, Sequences, TLC

CONSTANTS Processes, Batches, Shards, Ids, None,
          ChunkSize,      \* the largest number of entries in a chunk
          MaxNumber,      \* the limit of chunk numbers, which no run reaches
          MaxFaults,      \* the limit of lost answers and dying processes
          (* Guards of the code. FALSE removes a guard. *)
          BeginCreateOnly, LeaveUnknown, KnowBegun, ChunkOnlyGrows, ChunkFirst, OneChunkWrite, StopToEmpty

VARIABLES chunk,   \* <<shard, number>> -> the ids in the stored chunk, or None
          doc,     \* id -> the slot that its stored document names, or None
          late,    \* writes that may still take effect after their caller has stopped waiting
          mem,     \* process -> the chunk to which it adds entries
          batch,   \* process -> batch -> the current step of the batch
          faults, emptied

vars == <<chunk, doc, late, mem, batch, faults, emptied>>

Numbers == 0..MaxNumber
Places  == Shards \X Numbers
Exists(place) == place[2] \in Numbers /\ chunk[place] # None

(* goesOn: the process may rewrite the chunk. known: the chunk is certainly stored, so the process may begin the next *)
(* number.                                                                                                            *)
NoChunk == [place |-> None, ids |-> <<>>, goesOn |-> FALSE, known |-> FALSE]
Idle    == [step |-> "idle"]

Init == /\ chunk = [p \in Places |-> None] /\ doc = [i \in Ids |-> None]
        /\ late = {} /\ mem = [p \in Processes |-> NoChunk] /\ batch = [p \in Processes |-> [b \in Batches |-> Idle]]
        /\ faults = 0 /\ emptied = FALSE

-----------------------------------------------------------------------------
(* Reading *)

(* The end of a lane is its first missing number. A process searches for the end from a hint: the number of an existing *)
(* chunk. In a lane without holes, every hint leads to the same end.                                                *)
End(l) == CHOOSE n \in 0..(MaxNumber + 1) : ~Exists(<<l, n>>) /\ \A m \in 0..(n - 1) : Exists(<<l, m>>)
Leads(slot, id) == slot.place[2] < End(slot.place[1]) /\ Len(chunk[slot.place]) >= slot.index /\ chunk[slot.place][slot.index] = id

-----------------------------------------------------------------------------
(* Writing. A write `w` is the state of the batch that sent it. *)

IsRefused(w) == w.begins /\ BeginCreateOnly /\ chunk[w.place] # None

(* Documents are create-only, so a second write of a document has no effect. *)
Land(w) ==
  IF w.step = "chunk"
    THEN chunk' = (IF IsRefused(w) THEN chunk ELSE [chunk EXCEPT ![w.place] = w.ids]) /\ UNCHANGED doc
    ELSE /\ doc' = IF doc[w.id] = None THEN [doc EXCEPT ![w.id] = [place |-> w.place, index |-> Len(w.ids)]] ELSE doc
         /\ UNCHANGED chunk

Set(p, b, value) == batch' = [batch EXCEPT ![p][b] = value]
Remember(p, place, ids, goesOn, known) ==
  mem' = [mem EXCEPT ![p] = [place |-> place, ids |-> ids, goesOn |-> goesOn, known |-> known]]

(* A batch writes its chunk, then its document. Without ChunkFirst it writes the document first. *)
FirstStep == IF ChunkFirst THEN "chunk" ELSE "doc"
After(w)  == IF w.step = FirstStep THEN [w EXCEPT !.step = IF ChunkFirst THEN "doc" ELSE "chunk"] ELSE Idle

(* A batch gives a new document a slot in the current chunk of its process. If this chunk has no room, the batch *)
(* begins a chunk: at the end of any lane, or after the chunk that the process remembers.                        *)
CanGoOn(p) == mem[p].goesOn /\ Len(mem[p].ids) < ChunkSize
Beginnings(p) == {<<l, End(l)>> : l \in Shards} \cup (IF mem[p].known THEN {<<mem[p].place[1], mem[p].place[2] + 1>>} ELSE {})

Take(p, b, id) ==
  /\ batch[p][b] = Idle /\ doc[id] = None
  /\ \A other \in Batches : batch[p][other] # Idle => batch[p][other].id # id
  /\ OneChunkWrite => \A other \in Batches : batch[p][other].step # "chunk"
  /\ \E place \in IF CanGoOn(p) THEN {mem[p].place} ELSE Beginnings(p) :
       LET ids == IF CanGoOn(p) THEN Append(mem[p].ids, id) ELSE <<id>>
       IN /\ place[2] \in Numbers
          /\ Set(p, b, [step |-> FirstStep, id |-> id, begins |-> ~CanGoOn(p), place |-> place, ids |-> ids])
          (* An entry that was sent stays in the chunk, even if its document is not stored. *)
          /\ mem' = IF CanGoOn(p) /\ ChunkOnlyGrows THEN [mem EXCEPT ![p].ids = ids] ELSE mem
  /\ UNCHANGED <<chunk, doc, late, faults, emptied>>

ChunkDone(p, b) ==
  LET w == batch[p][b] IN
  /\ w.step = "chunk" /\ Land(w)
  /\ IF IsRefused(w)
       THEN Set(p, b, Idle) /\ mem' = [mem EXCEPT ![p] = NoChunk]
       ELSE Set(p, b, After(w)) /\ IF w.begins THEN Remember(p, w.place, w.ids, TRUE, TRUE) ELSE UNCHANGED mem
  /\ UNCHANGED <<late, faults, emptied>>

DocDone(p, b) ==
  LET w == batch[p][b] IN
  /\ w.step = "doc" /\ Land(w) /\ Set(p, b, After(w))
  /\ mem' = IF mem[p].goesOn /\ mem[p].place = w.place /\ Len(mem[p].ids) < Len(w.ids) THEN [mem EXCEPT ![p].ids = w.ids] ELSE mem
  /\ UNCHANGED <<late, faults, emptied>>

(* It is unknown whether the chunk was written. The process never writes this chunk again, and repeats the operations *)
(* of the batch with other slots.                                                                                     *)
ChunkUnknown(p, b) ==
  LET w == batch[p][b] IN
  /\ w.step = "chunk" /\ faults < MaxFaults /\ faults' = faults + 1
  /\ (Land(w) /\ UNCHANGED late) \/ (late' = late \cup {w} /\ UNCHANGED <<chunk, doc>>)
  /\ IF LeaveUnknown \/ w.begins THEN Remember(p, w.place, <<>>, FALSE, ~w.begins \/ ~KnowBegun)
                                  ELSE Remember(p, w.place, w.ids, TRUE, TRUE)
  /\ Set(p, b, Idle) /\ UNCHANGED emptied

(* It is unknown whether the document was written. The event is delivered again, to this or another process. *)
DocUnknown(p, b) ==
  LET w == batch[p][b] IN
  /\ w.step = "doc" /\ faults < MaxFaults /\ faults' = faults + 1
  /\ late' = late \cup {w} /\ Set(p, b, Idle)
  /\ UNCHANGED <<chunk, doc, mem, emptied>>

Crash(p) ==
  /\ faults < MaxFaults /\ faults' = faults + 1
  /\ mem[p] # NoChunk \/ \E b \in Batches : batch[p][b] # Idle
  /\ late' = late \cup {batch[p][b] : b \in {b \in Batches : batch[p][b] # Idle}}
  /\ batch' = [batch EXCEPT ![p] = [b \in Batches |-> Idle]] /\ mem' = [mem EXCEPT ![p] = NoChunk]
  /\ UNCHANGED <<chunk, doc, emptied>>

LandLate(w) == Land(w) /\ late' = late \ {w} /\ UNCHANGED <<mem, batch, faults, emptied>>

(* The store is emptied while the service runs. (A store that is emptied while all processes are stopped equals a new *)
(* one.)                                                                                                              *)
Empty ==
  /\ ~StopToEmpty /\ ~emptied /\ emptied' = TRUE
  /\ chunk' = [p \in Places |-> None] /\ doc' = [i \in Ids |-> None] 
  /\ UNCHANGED <<late, mem, batch, faults>>

Step(p) == \E b \in Batches : ChunkDone(p, b) \/ DocDone(p, b) \/ \E id \in Ids : Take(p, b, id)

Next == \/ \E p \in Processes : Step(p) \/ Crash(p) \/ \E b \in Batches : ChunkUnknown(p, b) \/ DocUnknown(p, b)
        \/ \E w \in late : LandLate(w)
        \/ Empty

(* A living process continues. A late write may take effect, or be lost. *)
Spec == Init /\ [][Next]_vars /\ \A p \in Processes : WF_vars(Step(p))

-----------------------------------------------------------------------------
(* Every stored document is listed at any moment: readers find it in the slot that it names. *)
Listed == \A id \in Ids : doc[id] # None => Leads(doc[id], id)
(* A lane has no holes. A search would take a hole for the end of the lane. *)
NoHole == \A p \in Places : chunk[p] # None => \A m \in 0..(p[2] - 1) : chunk[<<p[1], m>>] # None
(* Every event is delivered until it is handled, so its document is stored in the end. *)
AllStored == <>(\A id \in Ids : doc[id] # None)

(* Processes, batches and ids are interchangeable. *)
Alike == Permutations(Processes) \cup Permutations(Batches) \cup Permutations(Ids)
=============================================================================
