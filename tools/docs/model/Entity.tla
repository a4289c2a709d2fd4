------------------------------- MODULE Entity -------------------------------
(* Models how the processes of a service change an entity and announce its events. A handling reads the document and   *)
(* decides. It saves the new event together with the state, with a guard. Then it announces all events of the document *)
(* that are perhaps not announced, and acknowledges its event or answers its request.                                  *)
(*                                                                                                                    *)
(* Each process has a register: a document with the keys of the documents whose events it has perhaps not announced.  *)
(* The document of an event names the register and its epoch (the mark). If the owner of a register seems dead,       *)
(* another process visits the documents, and then takes the register. Its epoch grows. A visit first rewrites the     *)
(* document with the same content, so each earlier write of it fails (the fence). Then it announces the events.       *)
(*                                                                                                                    *)
(* Every step may fail, and a sent write or publication may take effect late.                                         *)
EXTENDS FiniteSets, Naturals, Sequences, TLC

CONSTANTS Processes, Registers, None,
          Events,        \* events, which are delivered until they are acknowledged
          Keyed,         \* requests with an Idempotency-Key; the client may repeat them, or give up
          Keyless,       \* requests without a key, which the client sends once
          State,         \* "evolves"; or "facts": the only event may come from the log, before it is stored
          Saving,        \* "together": a step writes the register and the document; "apart": one after the other
          MaxFaults,     \* the limit of lost answers and deaths, and of registers that are taken from a paused owner
          (* Guards of the code. FALSE removes a guard. *)
          SaveFirst, Guarded, CauseKnown, RegisterFirst, RegisterGuarded, AnnounceBefore, HealBefore,
          KeepUntilAnnounced, AckAfterAnnounce, FoldOnce, FenceFirst, SameDecision, OwnSubscription

VARIABLES doc,       \* the document: its events in the sequence of their revisions, the entries of unannounced events,
                     \* and the number of its rewrites (an etag)
          register,  \* register -> its epoch, the process that has it, and whether it has the key of the document
          log,       \* the announced records, each once, in the sequence of their first announcements
          repeated,  \* the revisions that were announced several times; only for FoldOnce
          at,        \* process -> its current step
          current,   \* process -> its register, as the process knows it, or None
          pending,   \* process -> the revisions that it stored, or perhaps stored, and has not announced
          doubt,     \* the processes whose last save or announcement failed
          life,      \* process -> the number of its deaths; its memory is empty after each death
          due,       \* the unacknowledged events and the unanswered requests
          done,      \* the acknowledged events and the answered requests
          late,      \* writes and announcements that may still take effect after their caller has stopped waiting
          faults

vars == <<doc, register, log, repeated, at, current, pending, doubt, life, due, done, late, faults>>
memory == <<current, pending, doubt, life>>

Causes == Events \cup Keyed \cup Keyless
Idle   == [left |-> <<>>]
Free   == [epoch |-> 0, by |-> None, hasKey |-> FALSE, beat |-> 0]

Init == /\ doc = [events |-> <<>>, open |-> {}, rewrites |-> 0] /\ register = [r \in Registers |-> Free]
        /\ log = <<>> /\ repeated = {} /\ at = [p \in Processes |-> Idle]
        /\ current = [p \in Processes |-> None] /\ pending = [p \in Processes |-> {}] /\ doubt = {}
        /\ life = [p \in Processes |-> 0] /\ due = Causes /\ done = {} /\ late = {} /\ faults = 0

(* A living process. A process that died and started again is another one. *)
By(p) == <<p, life[p]>>

-----------------------------------------------------------------------------
(* Announced events *)

Records == {log[i] : i \in DOMAIN log}
Entries(d) == {[revision |-> e.revision, event |-> d.events[e.revision], mark |-> e.mark] : e \in d.open}

(* A process knows its own events. Another process's event is announced if its register has a later epoch, or does    *)
(* not have the key.                                                                                                  *)
IsAnnounced(p, e) ==
  IF e.mark = None THEN FALSE
  ELSE IF e.mark.by = By(p) THEN e.revision \notin pending[p]
  ELSE register[e.mark.register].epoch > e.mark.epoch \/ ~register[e.mark.register].hasKey
Open(p, entries) == {e \in entries : ~IsAnnounced(p, e)}

RecordOf(e) == [revision |-> e.revision, cause |-> e.event.cause, content |-> e.event.content]
RECURSIVE InTurn(_)
InTurn(records) == IF records = {} THEN <<>>
                   ELSE LET first == CHOOSE r \in records : \A other \in records : r.revision <= other.revision
                        IN <<first>> \o InTurn(records \ {first})
Publish(entries) ==
  LET records == {RecordOf(e) : e \in entries} IN
  /\ log' = log \o InTurn(records \ Records)
  /\ repeated' = IF FoldOnce THEN {} ELSE repeated \cup {r.revision : r \in records \cap Records}

-----------------------------------------------------------------------------
(* Handlings. Each has a plan of the steps that it has left. A step may write several documents. *)

Saves == IF ~RegisterFirst           THEN <<{"document"}, {"register"}>>
         ELSE IF Saving = "together" THEN <<{"document", "register"}>>
         ELSE                             <<{"register"}, {"document"}>>
Plan  == IF SaveFirst THEN Append(Saves, {"announce"}) ELSE <<{"announce"}>> \o Saves
Writes(step) == step \cap {"document", "register"} # {}

(* A visit of the sweep is a handling without a cause. *)
IsVisit(p) == at[p] # Idle /\ at[p].cause = None

Handled == {at[p].cause : p \in {q \in Processes : at[q] # Idle}}
CanBegin(p, c) == IF at[p] = Idle THEN c \in due \ (Keyless \cap Handled)
                  ELSE Head(at[p].left) = {"again"} /\ at[p].cause = c

(* A repeated event or request changes nothing. It announces its event again, if that is perhaps not announced. *)
BeginKnown(p, c) ==
  LET open == Open(p, Entries(doc))
      isOpen == c \in Keyed \cup Keyless \/ \E e \in open : e.event.cause = c
  IN /\ at' = [at EXCEPT ![p] = [cause |-> c, left |-> <<{"announce"}>>, list |-> IF isOpen THEN open ELSE {}]]
     /\ UNCHANGED <<current, pending>>

(* Each handling makes an event with its own content, because it has its own time. *)
BeginNew(p, c, own) ==
  LET open     == Open(p, Entries(doc))
      revision == Len(doc.events) + 1
      content  == IF at[p] # Idle /\ SameDecision THEN at[p].content ELSE <<p, faults>>
      event    == [cause |-> c, content |-> content]
      mark     == [register |-> own.register, epoch |-> own.epoch, by |-> By(p)]
      entries  == {[revision |-> e.revision, mark |-> e.mark] : e \in open}
      to       == [doc EXCEPT !.events = Append(@, event), !.open = entries \cup {[revision |-> revision, mark |-> mark]}]
      list     == open \cup {[revision |-> revision, event |-> event, mark |-> mark]}
  IN /\ at' = [at EXCEPT ![p] = [cause |-> c, content |-> content, left |-> Plan, list |-> list,
                                 was |-> doc, to |-> to, mark |-> mark]]
     /\ current' = [current EXCEPT ![p] = own]
     /\ pending' = [pending EXCEPT ![p] = @ \cup {revision}]

Opened(r) == [register |-> r, epoch |-> register[r].epoch + 1, known |-> register[r]]
Begin(p, c) ==
  /\ CanBegin(p, c)
  /\ IF CauseKnown /\ \E i \in DOMAIN doc.events : doc.events[i].cause = c THEN BeginKnown(p, c)
     ELSE IF current[p] # None THEN BeginNew(p, c, current[p])
     ELSE \E r \in Registers : ~register[r].hasKey /\ BeginNew(p, c, Opened(r))
  /\ UNCHANGED <<doc, register, log, repeated, doubt, life, due, done, late, faults>>

(* The write of a step. The register's beat grows with each change of the document, so two of its writes never have the *)
(* same value.                                                                                                        *)
WriteOf(p) == [step |-> Head(at[p].left), was |-> at[p].was, to |-> at[p].to, mark |-> at[p].mark,
               known |-> IF current[p] = None THEN Free ELSE current[p].known]
Written(w) == [epoch |-> w.mark.epoch, by |-> w.mark.by, hasKey |-> TRUE, beat |-> Len(w.to.events) + w.to.rewrites]
Passes(w)  == /\ "document" \in w.step /\ Guarded         => doc = w.was
              /\ "register" \in w.step /\ RegisterGuarded => register[w.mark.register] = w.known
Write(w)   == /\ doc' = IF "document" \in w.step THEN w.to ELSE doc
              /\ register' = IF "register" \in w.step THEN [register EXCEPT ![w.mark.register] = Written(w)] ELSE register

(* The write of a visit. The content stays the same. *)
FenceOf(d) == [step |-> {"document"}, was |-> d, mark |-> None, known |-> Free,
               to |-> IF FenceFirst THEN [d EXCEPT !.rewrites = @ + 1] ELSE d]

(* If none of its saves and announcements has failed, a process forgets the document after a handling. *)
Forget(p, announced) == pending' = [pending EXCEPT ![p] = IF p \in doubt THEN @ \ announced ELSE {}]

End(p, c) == /\ due' = due \ {c} /\ done' = done \cup {c}

(* After a lost race, the handling begins again. The process leaves its register if that was written. *)
BeginAgain(p) ==
  /\ at' = [at EXCEPT ![p] = [cause |-> at[p].cause, left |-> <<{"again"}>>, content |-> at[p].content]]
  /\ current' = IF "register" \in Head(at[p].left) THEN [current EXCEPT ![p] = None] ELSE current
Save(p) ==
  LET w == WriteOf(p) IN
  /\ at[p] # Idle /\ Writes(Head(at[p].left))
  /\ IF Passes(w)
       THEN /\ Write(w)
            /\ at' = [at EXCEPT ![p] = IF Len(@.left) = 1 THEN Idle ELSE [@ EXCEPT !.left = Tail(@)]]
            /\ current' = IF "register" \in w.step THEN [current EXCEPT ![p].known = Written(w)] ELSE current
            /\ IF at'[p] = Idle \/ (~AckAfterAnnounce /\ at[p].cause \in Events)
                 THEN End(p, at[p].cause) ELSE UNCHANGED <<due, done>>
            /\ IF at'[p] = Idle THEN Forget(p, {}) ELSE UNCHANGED pending
       ELSE BeginAgain(p) /\ UNCHANGED <<doc, register, pending, due, done>>
  /\ UNCHANGED <<log, repeated, doubt, life, late, faults>>

ToAnnounce(p) == LET open == Open(p, at[p].list) IN
                 IF IsVisit(p)          THEN IF HealBefore \/ at[p].register = None THEN open ELSE {}
                 ELSE IF AnnounceBefore THEN open
                 ELSE                       {e \in open : e.event.cause = at[p].cause}
Announce(p) ==
  /\ at[p] # Idle /\ Head(at[p].left) = {"announce"} /\ ~IsVisit(p) /\ Publish(ToAnnounce(p))
  /\ IF Len(at[p].left) = 1
       THEN at' = [at EXCEPT ![p] = Idle] /\ End(p, at[p].cause) /\ Forget(p, {e.revision : e \in ToAnnounce(p)})
       ELSE at' = [at EXCEPT ![p].left = Tail(@)] /\ UNCHANGED <<due, done, pending>>
  /\ UNCHANGED <<doc, register, current, doubt, life, late, faults>>

-----------------------------------------------------------------------------
(* Failures. A sent write or publication takes effect at once, late or never. *)

IsSending(p) == at[p] # Idle /\ Head(at[p].left) \notin {{"again"}, {"empty"}}
Sent(p) == IF Head(at[p].left) = {"fence"} THEN FenceOf(doc) ELSE WriteOf(p)
Lands(p) ==
  IF ~IsSending(p) THEN UNCHANGED <<doc, register, log, repeated, late>>
  ELSE \/ UNCHANGED <<doc, register, log, repeated, late>>
       \/ IF Head(at[p].left) # {"announce"}
            THEN \/ Passes(Sent(p)) /\ Write(Sent(p)) /\ UNCHANGED <<log, repeated, late>>
                 \/ late' = late \cup {Sent(p)} /\ UNCHANGED <<doc, register, log, repeated>>
            ELSE \/ Publish(ToAnnounce(p)) /\ UNCHANGED <<doc, register, late>>
                 \/ /\ late' = late \cup {[step |-> {"announce"}, list |-> ToAnnounce(p)]}
                    /\ UNCHANGED <<doc, register, log, repeated>>
GivesUp(p) == /\ at' = [at EXCEPT ![p] = Idle] /\ faults < MaxFaults /\ faults' = faults + 1
              /\ due' = IF at[p] # Idle THEN due \ ({at[p].cause} \cap Keyless) ELSE due

(* The sidecar does not answer. The process leaves its register if that was written. It keeps the document in memory, *)
(* because the write may take effect late. A visit is repeated.                                                       *)
Unknown(p) ==
  /\ IsSending(p) /\ Lands(p) /\ GivesUp(p)
  /\ current' = IF "register" \in Head(at[p].left) THEN [current EXCEPT ![p] = None] ELSE current
  /\ IF IsVisit(p) THEN UNCHANGED <<pending, doubt>>
     ELSE IF KeepUntilAnnounced THEN doubt' = doubt \cup {p} /\ UNCHANGED pending
                                ELSE pending' = [pending EXCEPT ![p] = {}] /\ UNCHANGED doubt
  /\ UNCHANGED <<life, done>>

(* The save fails, and takes effect late or never. The handling begins again, with the same content. *)
Again(p) ==
  /\ IsSending(p) /\ Writes(Head(at[p].left)) /\ faults < MaxFaults /\ faults' = faults + 1
  /\ late' = late \cup {WriteOf(p)} /\ BeginAgain(p)
  /\ UNCHANGED <<doc, register, log, repeated, pending, doubt, life, due, done>>

(* The store does not answer. A request without a key is then answered after its event is announced. The late write   *)
(* must store the same event.                                                                                         *)
AnnounceOnly(p) ==
  /\ State = "facts" /\ IsSending(p) /\ Writes(Head(at[p].left)) /\ at[p].cause \in Keyless
  /\ Lands(p) /\ faults < MaxFaults /\ faults' = faults + 1
  /\ LET same  == at[p].to.events[1]
         event == IF SameDecision THEN same ELSE [same EXCEPT !.content = <<p, faults + 1>>]
     IN at' = [at EXCEPT ![p] = [cause |-> at[p].cause, left |-> <<{"announce"}>>,
                                 list |-> {[revision |-> 1, event |-> event, mark |-> None]}]]
  /\ current' = [current EXCEPT ![p] = None]
  /\ UNCHANGED <<pending, doubt, life, due, done>>

(* The service stores its own event when the log delivers it. *)
Arrive(r) ==
  /\ State = "facts" /\ OwnSubscription /\ r \in Records /\ doc.events = <<>>
  /\ doc' = [doc EXCEPT !.events = <<[cause |-> r.cause, content |-> r.content]>>]
  /\ UNCHANGED <<register, log, repeated, at, memory, due, done, late, faults>>

(* The process dies and starts again. *)
Die(p) ==
  /\ at[p] # Idle \/ current[p] # None \/ p \in doubt
  /\ Lands(p) /\ GivesUp(p)
  /\ current' = [current EXCEPT ![p] = None] /\ pending' = [pending EXCEPT ![p] = {}] /\ doubt' = doubt \ {p}
  /\ life' = [life EXCEPT ![p] = @ + 1] /\ UNCHANGED done

LandLate(w) ==
  /\ w \in late /\ late' = late \ {w}
  /\ IF w.step = {"announce"} THEN Publish(w.list) /\ UNCHANGED <<doc, register>>
     ELSE /\ IF Passes(w) THEN Write(w) ELSE UNCHANGED <<doc, register>>
          /\ UNCHANGED <<log, repeated>>
  /\ UNCHANGED <<at, memory, due, done, faults>>

-----------------------------------------------------------------------------
(* The sweep *)

(* A visit rewrites the document, or creates it without events. Then the guard of each earlier write fails.           *)
Fence(p) ==
  /\ at[p] # Idle /\ Head(at[p].left) = {"fence"}
  /\ Write(FenceOf(doc))
  /\ at' = [at EXCEPT ![p].left = Tail(@), ![p].list = Entries(doc)]
  /\ UNCHANGED <<log, repeated, memory, due, done, late, faults>>

(* After a failure, a process visits the document. Then it forgets the document.                                      *)
VisitOwn(p) ==
  /\ at[p] = Idle /\ p \in doubt
  /\ at' = [at EXCEPT ![p] = [left |-> <<{"fence"}, {"announce"}>>, cause |-> None, register |-> None, list |-> {}]]
  /\ UNCHANGED <<doc, register, log, repeated, memory, due, done, late, faults>>
Heal(p) ==
  /\ IsVisit(p) /\ Head(at[p].left) = {"announce"} /\ Publish(ToAnnounce(p))
  /\ IF at[p].register = None
       THEN at' = [at EXCEPT ![p] = Idle] /\ doubt' = doubt \ {p} /\ pending' = [pending EXCEPT ![p] = {}]
       ELSE at' = [at EXCEPT ![p].left = Tail(@), ![p].list = {}] /\ UNCHANGED <<doubt, pending>>
  /\ UNCHANGED <<doc, register, current, life, due, done, late, faults>>

(* A process removes the key from its register when all is announced. *)
Tell(p) ==
  /\ at[p] = Idle /\ current[p] # None /\ current[p].known.by = By(p) /\ current[p].known.hasKey
  /\ pending[p] = {} /\ p \notin doubt
  /\ LET r == current[p].register
         new == [current[p].known EXCEPT !.hasKey = FALSE] IN
     IF RegisterGuarded => register[r] = current[p].known
       THEN register' = [register EXCEPT ![r] = new] /\ current' = [current EXCEPT ![p].known = new]
       ELSE current' = [current EXCEPT ![p] = None] /\ UNCHANGED register
  /\ UNCHANGED <<doc, log, repeated, at, pending, doubt, life, due, done, late, faults>>

(* Another process visits the document of a register. Then it takes the register, if that is unchanged. A paused      *)
(* owner loses its register.                                                                                          *)
Owns(q, r)   == current[q] # None /\ current[q].register = r /\ current[q].known = register[r]
IsLeft(r)    == \A q \in Processes : ~Owns(q, r)
Visit(p, r) ==
  /\ at[p] = Idle /\ register[r].hasKey /\ ~Owns(p, r)
  /\ IF IsLeft(r) THEN UNCHANGED faults ELSE faults < MaxFaults /\ faults' = faults + 1
  /\ at' = [at EXCEPT ![p] = [left |-> <<{"fence"}, {"announce"}, {"empty"}>>, cause |-> None, register |-> r,
                              known |-> register[r], list |-> {}]]
  /\ UNCHANGED <<doc, register, log, repeated, memory, due, done, late>>
Empty(p) ==
  /\ at[p] # Idle /\ Head(at[p].left) = {"empty"} /\ at' = [at EXCEPT ![p] = Idle]
  /\ register' = IF register[at[p].register] = at[p].known
                   THEN [register EXCEPT ![at[p].register] = [Free EXCEPT !.epoch = at[p].known.epoch + 1]] ELSE register
  /\ UNCHANGED <<doc, log, repeated, memory, due, done, late, faults>>

-----------------------------------------------------------------------------
Continue(p) == Save(p) \/ Announce(p) \/ Fence(p) \/ Heal(p) \/ Empty(p) \/ (at[p] # Idle /\ \E c \in Causes : Begin(p, c))
Sweep(p)    == VisitOwn(p) \/ \E r \in Registers : Visit(p, r)
Next == \/ \E p \in Processes : Continue(p) \/ Sweep(p) \/ Tell(p) \/ Unknown(p) \/ Again(p) \/ AnnounceOnly(p) \/ Die(p)
        \/ \E p \in Processes, c \in Causes : Begin(p, c)
        \/ \E w \in late : LandLate(w)
        \/ \E r \in Records : Arrive(r)
(* A living process continues and sweeps. Clients need not repeat requests. *)
Spec == /\ Init /\ [][Next]_vars
        /\ \A p \in Processes : WF_vars(Continue(p)) /\ WF_vars(Sweep(p))
        /\ WF_vars(\E w \in late : LandLate(w)) /\ WF_vars(\E r \in Records : Arrive(r))
Alike == Permutations(Processes) \cup Permutations(Registers) \cup Permutations(Events) \cup Permutations(Keyed)

-----------------------------------------------------------------------------
Logged(c) == \E r \in Records : r.cause = c
Stored(c) == \E i \in DOMAIN doc.events : doc.events[i].cause = c

(* The events of each acknowledged event and of each answered request are in the log. *)
AcceptedIsLogged == \A c \in done : Logged(c)
(* An Id consists of a cause and a revision. All records with one Id have the same content. *)
OneContent == \A r, s \in Records : r.cause = s.cause /\ r.revision = s.revision => r = s
(* No cause has two effects. *)
OneEffect == /\ \A i, j \in DOMAIN doc.events : doc.events[i].cause = doc.events[j].cause => i = j
             /\ \A r, s \in Records : r.cause = s.cause => r.revision = s.revision
(* The events are announced in the sequence of their revisions, without a gap. *)
InSequence == \A i \in DOMAIN log : log[i].revision = i
(* When all events are announced, a rebuild restores the document. It adds the events in the sequence of their         *)
(* revisions, each once.                                                                                              *)
InLog(i) == \E r \in Records : r = [revision |-> i, cause |-> doc.events[i].cause, content |-> doc.events[i].content]
Rebuilt == LET Event(r) == [cause |-> r.cause, content |-> r.content]
               Once == [i \in DOMAIN log |-> Event(InTurn(Records)[i])]
           IN IF repeated = {} THEN Once ELSE Append(Once, Event(CHOOSE r \in Records : r.revision \in repeated))
AtRest  == /\ \A p \in Processes : at[p] = Idle
           /\ late = {}
           /\ State = "facts" => \A r \in Records : Stored(r.cause)
RebuiltIsLive == AtRest /\ (\A i \in DOMAIN doc.events : InLog(i)) => Rebuilt = doc.events
(* Every stored event is announced in the end. *)
StoredIsLogged == \A c \in Causes : Stored(c) ~> Logged(c)
(* Every announced event is stored in the end. *)
LoggedIsStored == \A c \in Causes : Logged(c) ~> Stored(c)
=============================================================================
