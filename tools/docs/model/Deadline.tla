------------------------------ MODULE Deadline ------------------------------
(* Models the deadline of an entity. Requests open, move and end it. The document holds the open deadline, and        *)
(* whether it was fired. The index consists of lanes and chunks. A lane belongs to one process, and names its chunks. *)
(* A chunk is written once, and has entries of open deadlines.                                                        *)
(*                                                                                                                    *)
(* The owner of a lane fires the due entries. It saves the firing together with an event (the passed event). Then it  *)
(* announces this event. The event is decided when it arrives, and the deadline ends.                                 *)
(*                                                                                                                    *)
(* Every step may fail, and a sent write, removal or publication may take effect late. A process may take the lane of *)
(* another process that seems dead. A rebuild restores the document and its entry in the index from the log.          *)
(*                                                                                                                    *)
(* Entity models the announcement of changes. In this model, the log has a change when the document has it.           *)
EXTENDS FiniteSets, Naturals, Sequences, TLC

CONSTANTS Processes, Lanes, None,
          StartTime,     \* the first time of the log
          MaxTime,       \* the latest time of a deadline
          MaxChanges,    \* the limit of changes by requests
          MaxFaults,     \* the limit of lost answers, deaths, lanes taken from a paused owner, and emptied stores
          Saving,        \* "together": a step writes the lane, its chunk and the document; "apart": first lane and chunk
          (* Guards of the code. FALSE removes a guard. *)
          IndexFirst, LaneGuarded, ChunkCreateOnly, NumbersOnce, EndedFirst, FenceEnded, TakeLanes, RebuildArms,
          SaveFirst, FiredStored, EventStored, Derived, ClockIsLate, Guarded, OpenChecked

VARIABLES doc,      \* the document: its number of changes, its deadline, its passed events that are perhaps not announced,
                    \* and the number of its rewrites (an etag)
          history,  \* the changes of the entity, which are also in the log
          firings,  \* each stored firing; a property compares it with the log
          again,    \* TRUE if a deadline was fired again
          lane,     \* lane -> its owner, its beat (an etag), and the numbers of its chunks
          chunk,    \* the entries of stored chunks; a chunk has one entry in this model
          log,      \* the passed events in the log
          due,      \* the passed events that are not acknowledged
          clock,    \* the time of the log
          at,       \* process -> its current step
          own,      \* process -> lane -> what the process knows about its lane, or None
          failed,   \* the processes whose last write of a chunk was perhaps not executed
          ended,    \* process -> the chunks whose entries it has fired, or whose deadlines have ended
          late,     \* writes, removals and publications that may still take effect after their caller has stopped waiting
          emptied,  \* "no", "rebuilding", or "rebuilt"
          faults

index  == <<lane, chunk>>
entity == <<doc, history, firings, again>>
memory == <<own, failed, ended>>
vars   == <<entity, index, log, due, clock, at, memory, late, emptied, faults>>

Times  == 1..MaxTime
Idle   == [left |-> <<>>]
NoDoc  == [changes |-> 0, deadline |-> None, fired |-> FALSE, open |-> {}, rewrites |-> 0]
Free   == [by |-> None, beat |-> 0, chunks |-> None]
NoLane == [l \in Lanes |-> None]

Init == /\ doc = NoDoc /\ history = <<>> /\ firings = {} /\ again = FALSE
        /\ lane = [l \in Lanes |-> Free] /\ chunk = {} /\ log = {} /\ due = {} /\ clock = StartTime
        /\ at = [p \in Processes |-> Idle] /\ own = [p \in Processes |-> NoLane] /\ failed = {}
        /\ ended = [p \in Processes |-> {}] /\ late = {} /\ emptied = "no" /\ faults = 0

Max(a, b) == IF a > b THEN a ELSE b
IsIn(n, chunks) == chunks # None /\ n >= chunks.from /\ n < chunks.to
Entry(l, n) == {c \in chunk : c.lane = l /\ c.number = n}
Fault == faults < MaxFaults /\ faults' = faults + 1

-----------------------------------------------------------------------------
(* Writes. A write `w` has parts: the document, or a lane with its chunk, or both.                                    *)

HasDoc(w)  == "document" \in w.step
HasLane(w) == "lane" \in w.step /\ w.arms # None

DocPasses(w)   == HasDoc(w) /\ (Guarded => doc = w.was)
LanePasses(w)  == HasLane(w) /\ (LaneGuarded => lane[w.lane] = w.known)
ChunkPasses(w) == HasLane(w) /\ (ChunkCreateOnly => Entry(w.lane, w.number) = {})
Passes(w) == (HasDoc(w) => DocPasses(w)) /\ (HasLane(w) => LanePasses(w) /\ ChunkPasses(w))

(* If the writes are apart, each part of a call has only its own guard. *)
Lands(w, passes) == IF Saving = "together" /\ IndexFirst THEN Passes(w) ELSE passes
Write(w) ==
  /\ IF Lands(w, DocPasses(w)) /\ HasDoc(w)
       THEN /\ doc' = w.to
            /\ history' = IF w.event = None THEN history ELSE Append(history, w.event)
            /\ firings' = IF w.fires = None THEN firings ELSE firings \cup {w.fires}
            /\ again' = (again \/ \E f \in firings : w.fires # None /\ [f EXCEPT !.content = None] = [w.fires EXCEPT !.content = None])
       ELSE UNCHANGED entity
  /\ lane' = IF Lands(w, LanePasses(w)) /\ HasLane(w) THEN [lane EXCEPT ![w.lane] = w.laneTo] ELSE lane
  /\ chunk' = IF Lands(w, ChunkPasses(w)) /\ HasLane(w)
                THEN (chunk \ Entry(w.lane, w.number)) \cup {[lane |-> w.lane, number |-> w.number, deadline |-> w.arms]}
                ELSE chunk

Saves == IF ~IndexFirst              THEN <<{"document"}, {"lane"}>>
         ELSE IF Saving = "together" THEN <<{"document", "lane"}>>
         ELSE                             <<{"lane"}, {"document"}>>
Publish(events) == log' = log \cup events /\ due' = due \cup events

-----------------------------------------------------------------------------
(* The own lane *)

(* After an unanswered or refused write, a process reads its lane again. It leaves the lane if another process has    *)
(* taken it. The store may have executed an unanswered write.                                                         *)
Merged(mine, stored) == IF mine = None THEN stored ELSE IF stored = None THEN mine
                        ELSE [from |-> Max(mine.from, stored.from), to |-> Max(mine.to, stored.to)]
Checked(p, l) ==
  LET o == own[p][l] IN
  IF o = None \/ o.isSure THEN o
  ELSE IF lane[l].by # p  THEN None
  ELSE [o EXCEPT !.isSure = TRUE, !.known = lane[l], !.chunks = IF lane[l] = o.known THEN @ ELSE Merged(@, lane[l].chunks)]

(* A process that has no lane takes an empty one. It owns the lane after its first write. *)
Taken(l) == [known |-> lane[l], chunks |-> None, isSure |-> TRUE, isWritten |-> FALSE]
Usable(p) == LET mine == [l \in Lanes |-> Checked(p, l)] IN
             IF mine # NoLane THEN {mine}
             ELSE {[NoLane EXCEPT ![l] = Taken(l)] : l \in {l \in Lanes : lane[l].chunks = None}}
Left(o) == IF o # None /\ o.isWritten THEN [o EXCEPT !.isSure = FALSE] ELSE None

(* The numbers of chunks grow. An empty lane continues with its beat, which is at least as large as all earlier       *)
(* numbers.                                                                                                           *)
NumberFor(p, o) ==
  (IF o.chunks # None THEN o.chunks.to ELSE IF NumbersOnce THEN o.known.beat + 1 ELSE 1) + (IF p \in failed THEN 1 ELSE 0)
LaneWith(p, o, n) ==
  [by |-> p, beat |-> IF NumbersOnce THEN Max(o.known.beat + 1, n) ELSE o.known.beat + 1,
   chunks |-> [from |-> IF o.chunks = None THEN n ELSE o.chunks.from, to |-> n + 1]]

-----------------------------------------------------------------------------
(* Batches *)

Unannounced == doc.open \ log
Changed(deadline) == [doc EXCEPT !.changes = @ + 1, !.deadline = deadline, !.fired = FALSE, !.open = Unannounced]
NoWrite == [was |-> doc, to |-> doc, event |-> None, fires |-> None, arms |-> None]

(* Begins a batch that changes the document, and perhaps adds a deadline to the index. *)
Begin(p, job, plan, w) ==
  IF w.arms = None
    THEN at' = [at EXCEPT ![p] = [job |-> job, left |-> plan, w |-> w]] /\ UNCHANGED <<own, failed>>
    ELSE \E mine \in Usable(p), l \in Lanes :
           /\ mine[l] # None
           /\ LET n == NumberFor(p, mine[l]) IN
              at' = [at EXCEPT ![p] = [job |-> job, left |-> plan,
                       w |-> w @@ [lane |-> l, number |-> n, known |-> mine[l].known, laneTo |-> LaneWith(p, mine[l], n)]]]
           /\ own' = [own EXCEPT ![p] = mine] /\ failed' = failed \cup {p}

Decided == {history[i].deadline : i \in {i \in DOMAIN history : history[i].kind = "decided"}}
Requests == Cardinality({i \in DOMAIN history : history[i].kind = "set"})

(* A request opens or moves the deadline. *)
Request(p) ==
  /\ at[p] = Idle /\ emptied # "rebuilding" /\ Requests < MaxChanges
  /\ \E d \in Times \ (Decided \cup {doc.deadline}) :
       Begin(p, [kind |-> "request"], Saves,
             [NoWrite EXCEPT !.to = Changed(d), !.event = [kind |-> "set", deadline |-> d], !.arms = d])
  /\ UNCHANGED <<entity, index, log, due, clock, ended, late, emptied, faults>>

(* A request ends the deadline, or a passed event is decided. Neither changes the index. *)
Ends(event) == /\ doc' = Changed(None) /\ history' = Append(history, event)
               /\ UNCHANGED <<firings, again, index, log, clock, at, memory, late, emptied>>
End == /\ emptied # "rebuilding" /\ doc.deadline # None /\ Requests < MaxChanges
       /\ Ends([kind |-> "set", deadline |-> None]) /\ UNCHANGED <<due, faults>>
Decide == \E r \in due :
  /\ emptied # "rebuilding"
  /\ IF OpenChecked => doc.deadline = r.deadline
       THEN /\ Ends([kind |-> "decided", deadline |-> r.deadline])
            (* Without an acknowledgment, the event arrives again. *)
            /\ \/ due' = due \ {r} /\ UNCHANGED faults
               \/ UNCHANGED due /\ Fault
       ELSE due' = due \ {r} /\ UNCHANGED <<entity, index, log, clock, at, memory, late, emptied, faults>>

(* The owner of a lane fires a due entry. Its time of the log may be late. *)
Fire(p) == \E l \in Lanes, c \in chunk :
  LET event  == [deadline |-> c.deadline, content |-> IF Derived THEN None ELSE clock]
      isOpen == doc.deadline = c.deadline /\ ~doc.fired
      fired  == [doc EXCEPT !.fired = FiredStored, !.open = Unannounced \cup (IF EventStored THEN {event} ELSE {})]
      plan   == IF SaveFirst THEN <<{"document"}, {"announce"}>> ELSE <<{"announce"}, {"document"}>>
      job    == [kind |-> "fire", chunk |-> <<l, c.number>>, list |-> Unannounced \cup {event}]
  IN
  /\ at[p] = Idle /\ c.lane = l /\ own[p][l] # None /\ IsIn(c.number, own[p][l].chunks) /\ <<l, c.number>> \notin ended[p]
  /\ c.deadline <= clock + (IF ClockIsLate THEN 0 ELSE 1)
  /\ IF isOpen
       THEN /\ Begin(p, job, plan, [NoWrite EXCEPT !.to = fired,
                     !.fires = [era |-> emptied, changes |-> doc.changes, deadline |-> c.deadline, content |-> event.content]])
            /\ UNCHANGED ended
     ELSE IF Saving = "apart" /\ FenceEnded
       (* The write of the document may still be on its way. The rewrite makes it fail. *)
       THEN Begin(p, job, <<{"document"}>>, [NoWrite EXCEPT !.to = [doc EXCEPT !.rewrites = @ + 1]]) /\ UNCHANGED ended
     ELSE ended' = [ended EXCEPT ![p] = @ \cup {<<l, c.number>>}] /\ UNCHANGED <<at, own, failed>>
  /\ UNCHANGED <<entity, index, log, due, clock, late, emptied, faults>>

Restored == LET last == history[Len(history)] IN IF last.kind = "set" THEN last.deadline ELSE None
Rebuild(p) ==
  /\ at[p] = Idle /\ emptied = "rebuilding" /\ \A q \in Processes : at[q] = Idle
  /\ Begin(p, [kind |-> "rebuild"], IF Restored # None /\ RebuildArms THEN Saves ELSE <<{"document"}>>,
           [NoWrite EXCEPT !.to = [NoDoc EXCEPT !.changes = Len(history), !.deadline = Restored],
                           !.arms = IF RebuildArms THEN Restored ELSE None])
  /\ UNCHANGED <<entity, index, log, due, clock, ended, late, emptied, faults>>

(* The current write of a process. *)
Sent(p) == [step |-> Head(at[p].left)] @@ at[p].w
IsSaving(p) == at[p] # Idle /\ Head(at[p].left) # {"announce"}

Finish(p) ==
  LET job == at[p].job IN
  IF Len(at[p].left) > 1 THEN at' = [at EXCEPT ![p].left = Tail(@)] /\ UNCHANGED <<ended, emptied>>
  ELSE /\ at' = [at EXCEPT ![p] = Idle]
       /\ ended' = IF job.kind = "fire" THEN [ended EXCEPT ![p] = @ \cup {job.chunk}] ELSE ended
       /\ emptied' = IF job.kind = "rebuild" THEN "rebuilt" ELSE emptied

Save(p) ==
  LET w == Sent(p) IN
  /\ IsSaving(p) /\ Write(w)
  /\ IF Passes(w)
       THEN /\ Finish(p)
            /\ IF HasLane(w)
                 THEN /\ own' = [own EXCEPT ![p][w.lane] =
                               [known |-> w.laneTo, isSure |-> TRUE, isWritten |-> TRUE,
                                chunks |-> [from |-> IF @.chunks = None THEN w.number ELSE @.chunks.from, to |-> w.number + 1]]]
                      /\ failed' = failed \ {p}
                 ELSE UNCHANGED <<own, failed>>
       ELSE /\ at' = [at EXCEPT ![p] = Idle]
            /\ own' = IF HasLane(w) THEN [own EXCEPT ![p][w.lane] = Left(@)] ELSE own
            /\ UNCHANGED <<failed, ended, emptied>>
  /\ UNCHANGED <<log, due, clock, late, faults>>

Announce(p) ==
  /\ at[p] # Idle /\ Head(at[p].left) = {"announce"} /\ Publish(at[p].job.list) /\ Finish(p)
  /\ UNCHANGED <<entity, index, clock, own, failed, late, faults>>

(* A process announces the events that another process has left, or that it could not announce (see Entity). *)
Heal ==
  /\ Unannounced # {} /\ \A q \in {q \in Processes : at[q] # Idle} : at[q].job.kind # "fire"
  /\ Publish(Unannounced)
  /\ UNCHANGED <<entity, index, clock, at, memory, late, emptied, faults>>

(* A process removes the first chunk of a lane when its entry has ended. An unanswered removal is repeated. *)
Settle(p) == \E l \in Lanes :
  LET o == own[p][l]  n == o.chunks.from IN
  /\ at[p] = Idle /\ o # None /\ o.chunks # None
  /\ \/ <<l, n>> \in ended[p]
     \/ Entry(l, n) = {}
     \/ ~EndedFirst /\ \E c \in Entry(l, n) : c.deadline <= clock
  /\ \/ /\ chunk' = chunk \ Entry(l, n)
        /\ own' = [own EXCEPT ![p][l].chunks = IF n + 1 = @.to THEN None ELSE [@ EXCEPT !.from = n + 1]]
        /\ ended' = [ended EXCEPT ![p] = @ \ {<<l, n>>}]
        /\ UNCHANGED <<late, faults>>
     \/ Fault /\ late' = late \cup {[step |-> {"remove"}, lane |-> l, number |-> n]} /\ UNCHANGED <<chunk, own, ended>>
  /\ UNCHANGED <<entity, lane, log, due, clock, at, failed, emptied>>

(* A process takes the lane of another process. A paused owner loses its lane. *)
IsLeft(l) == \A q \in Processes : lane[l].by = q => own[q][l] = None
Take(p) == \E l \in Lanes :
  LET new == [lane[l] EXCEPT !.by = p, !.beat = @ + 1] IN
  /\ at[p] = Idle /\ lane[l].chunks # None /\ TakeLanes
  /\ own[p][l] = None \/ lane[l].by # p
  /\ IF IsLeft(l) THEN UNCHANGED faults ELSE Fault
  /\ lane' = [lane EXCEPT ![l] = new]
  /\ own' = [own EXCEPT ![p][l] = [known |-> new, chunks |-> new.chunks, isSure |-> TRUE, isWritten |-> TRUE]]
  /\ UNCHANGED <<entity, chunk, log, due, clock, at, failed, ended, late, emptied>>

-----------------------------------------------------------------------------
(* Failures. A sent write or publication takes effect at any time later, or never. *)

Sends(p) == late' = IF at[p] = Idle  THEN late
                    ELSE IF IsSaving(p) THEN late \cup {Sent(p)}
                    ELSE                     late \cup {[step |-> {"announce"}, list |-> at[p].job.list]}

Unknown(p) ==
  /\ at[p] # Idle /\ Fault /\ Sends(p) /\ at' = [at EXCEPT ![p] = Idle]
  /\ own' = IF IsSaving(p) /\ HasLane(Sent(p)) THEN [own EXCEPT ![p][Sent(p).lane] = Left(@)] ELSE own
  /\ UNCHANGED <<entity, index, log, due, clock, failed, ended, emptied>>

(* The process dies and starts again. *)
Die(p) ==
  /\ at[p] # Idle \/ own[p] # NoLane
  /\ Fault /\ Sends(p) /\ at' = [at EXCEPT ![p] = Idle]
  /\ own' = [own EXCEPT ![p] = NoLane] /\ failed' = failed \ {p} /\ ended' = [ended EXCEPT ![p] = {}]
  /\ UNCHANGED <<entity, index, log, due, clock, emptied>>

LandLate(w) ==
  /\ w \in late /\ late' = late \ {w}
  /\ IF w.step = {"announce"}    THEN Publish(w.list) /\ UNCHANGED <<entity, index>>
     ELSE IF w.step = {"remove"} THEN chunk' = chunk \ Entry(w.lane, w.number) /\ UNCHANGED <<entity, lane, log, due>>
     ELSE Write(w) /\ UNCHANGED <<log, due>>
  /\ UNCHANGED <<clock, at, memory, emptied, faults>>

(* The service is stopped, and its store is emptied. *)
Empty ==
  /\ emptied = "no" /\ history # <<>> /\ Fault /\ emptied' = "rebuilding"
  /\ doc' = NoDoc /\ lane' = [l \in Lanes |-> Free] /\ chunk' = {} /\ late' = {}
  /\ at' = [p \in Processes |-> Idle] /\ own' = [p \in Processes |-> NoLane] /\ failed' = {}
  /\ ended' = [p \in Processes |-> {}]
  /\ UNCHANGED <<history, firings, again, log, due, clock>>

(* Fewer interleavings are enough, because only Fire reads the clock. *)
Tick == /\ clock < MaxTime /\ \A p \in Processes : at[p] = Idle
        /\ clock' = clock + 1 /\ UNCHANGED <<entity, index, log, due, at, memory, late, emptied, faults>>

-----------------------------------------------------------------------------
Step(p) == Save(p) \/ Announce(p) \/ Fire(p) \/ Settle(p) \/ Take(p) \/ Rebuild(p)
Next == \/ \E p \in Processes : Step(p) \/ Request(p) \/ Unknown(p) \/ Die(p)
        \/ \E w \in late : LandLate(w)
        \/ End \/ Decide \/ Heal \/ Empty \/ Tick
(* A living process continues. Clients need not make requests. *)
Spec == /\ Init /\ [][Next]_vars /\ WF_vars(Tick) /\ WF_vars(Decide) /\ WF_vars(Heal)
        /\ \A p \in Processes : WF_vars(Step(p))
Alike == Permutations(Processes) \cup Permutations(Lanes)

-----------------------------------------------------------------------------
(* A deadline does not pass before its time. *)
NeverEarly == \A r \in log : r.deadline <= clock
(* An Id contains the time of the deadline. All records with one Id have the same content. *)
OneContent == \A r, s \in log : r.deadline = s.deadline => r = s
(* Only a deadline passes whose firing was stored. So it was open at that time. *)
PassedIsStored == \A r \in log : \E f \in firings : f.deadline = r.deadline /\ f.content = r.content
(* A deadline is fired once. It is fired again only if it has moved, or after a rebuild. *)
FiresOnce == ~again
(* Only the open deadline is decided. So no deadline is decided twice, or after it has ended or moved. *)
OpenIsDecided == \A i \in DOMAIN history :
  history[i].kind = "decided" => i > 1 /\ history[i - 1] = [kind |-> "set", deadline |-> history[i].deadline]
(* Every stored deadline is in the index until it is fired. *)
IsFired == \E f \in firings : f.changes = doc.changes /\ f.era = emptied
Indexed == doc.deadline # None /\ ~IsFired =>
           \E c \in chunk : c.deadline = doc.deadline /\ IsIn(c.number, lane[c.lane].chunks)
(* In the end, an open deadline is decided, or a request has moved or ended it. *)
OpenEnds == \A d \in Times : doc.deadline = d ~> doc.deadline # d
=============================================================================
