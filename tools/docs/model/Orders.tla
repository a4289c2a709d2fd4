------------------------------- MODULE Orders -------------------------------
(* How order-service takes orders in: requests with and without an Idempotency-Key, and its subscription to its own     *)
(* topic. Each attempt of a request makes an event of its own, with other bytes; the key says that they are one order.   *)
(* With a key the first event claims the order, and that very event is what every attempt publishes. The log comes      *)
(* first, the store is its view. Every step may fail, and what was sent may land late.                                  *)
EXTENDS FiniteSets, Naturals

CONSTANTS Attempts, Outside, None,
          MaxFaults,    \* answers that are lost, and attempts that die, together
          Emptying,     \* whether an operator empties the store once, and rebuilds it from the log beside the service
          (* The guards. FALSE takes one away. *)
          ClaimFirst, ClaimCreateOnly, PublishHolder, CreatedReadAgain, PublishFirst, UnknownIsNoYes,
          FactCreateOnly, OwnSubscription, AckAfterSave

VARIABLES keyed,     \* the attempts that have the key; any other is an order of its own
          at,        \* attempt -> what it is at
          claim, created,  \* order -> the event in the store, or None
          log,       \* <<order, event>>: what was published
          due,       \* those of it that are yet to be acknowledged to the log
          delivery,  \* those that are delivered and half done
          late,      \* writes and publishes that nobody waits for and that may land
          knewOrder, \* attempts whose claim was written when the order was stored already
          rebuild,   \* "none", "due" (the store was emptied) or "begun"
          toRead,    \* what the rebuild has still to read
          faults

vars == <<keyed, at, claim, created, log, due, delivery, late, knewOrder, rebuild, toRead, faults>>

TheKey == "key"
Order(a) == IF a \in keyed \/ a = Outside THEN TheKey ELSE a
Orders == Attempts \cup {TheKey}
At(a, step, event) == at' = [at EXCEPT ![a] = [step |-> step, event |-> event]]

(* All attempts with the key, and an application outside that publishes the same OrderId: it may guess a key. *)
Init == /\ keyed \in SUBSET Attempts
        /\ at = [a \in Attempts |-> [step |-> "begin", event |-> a]]
        /\ claim = [o \in Orders |-> None] /\ created = [o \in Orders |-> None]
        /\ log = {} /\ due = {} /\ delivery = {} /\ late = {} /\ knewOrder = {} /\ rebuild = "none" /\ toRead = {} /\ faults = 0

-----------------------------------------------------------------------------
(* What lands: a claim, a fact or a record. *)

Publish(record) == /\ log' = log \cup {record}
                   /\ due' = IF OwnSubscription THEN due \cup {record} ELSE due
                   /\ UNCHANGED <<claim, created, knewOrder>>
SaveFact(o, event) == /\ created' = IF created[o] = None \/ ~FactCreateOnly THEN [created EXCEPT ![o] = event] ELSE created
                      /\ UNCHANGED <<claim, log, due, knewOrder>>
SaveClaim(a) ==
  /\ IF claim[TheKey] = None \/ ~ClaimCreateOnly
       THEN /\ claim' = [claim EXCEPT ![TheKey] = a]
            /\ knewOrder' = IF created[TheKey] # None THEN knewOrder \cup {a} ELSE knewOrder
       ELSE UNCHANGED <<claim, knewOrder>>
  /\ UNCHANGED <<created, log, due>>

Sent(a) == [what |-> at[a].step, by |-> a, event |-> at[a].event]
Land(w) == CASE w.what = "claim"   -> SaveClaim(w.by)
             [] w.what = "publish" -> Publish(<<Order(w.by), w.event>>)
             [] w.what = "save"    -> SaveFact(Order(w.by), w.event)

-----------------------------------------------------------------------------
(* An attempt: begin, claim, (look again), publish, save, and an answer: "stored" (201), "logged" (202), "unknown" (503). *)

FirstOfTwo == IF PublishFirst THEN "publish" ELSE "save"

Begin(a) ==
  /\ at[a].step = "begin"
  /\ IF a \notin keyed \/ ~ClaimFirst THEN At(a, FirstOfTwo, a)
     ELSE IF created[TheKey] # None THEN At(a, "stored", created[TheKey])
     ELSE IF claim[TheKey] # None   THEN At(a, FirstOfTwo, IF PublishHolder THEN claim[TheKey] ELSE a)
     ELSE At(a, "claim", a)
  /\ UNCHANGED <<claim, created, log, due, late, knewOrder, faults>>

(* A claim that lost the race is decided again. *)
Claim(a) ==
  /\ at[a].step = "claim" /\ Land(Sent(a))
  /\ IF claim'[TheKey] # a THEN At(a, "begin", a)
     ELSE At(a, IF CreatedReadAgain THEN "look" ELSE FirstOfTwo, a)
  /\ UNCHANGED <<late, faults>>

Look(a) ==
  /\ at[a].step = "look"
  /\ IF created[TheKey] # None THEN At(a, "stored", created[TheKey]) ELSE At(a, FirstOfTwo, at[a].event)
  /\ UNCHANGED <<claim, created, log, due, late, knewOrder, faults>>

PublishOrSave(a) ==
  /\ at[a].step \in {"publish", "save"} /\ Land(Sent(a))
  /\ At(a, IF at[a].step # FirstOfTwo THEN "stored" ELSE IF PublishFirst THEN "save" ELSE "publish", at[a].event)
  /\ UNCHANGED <<late, faults>>

(* No answer of the sidecar. What is in the log is accepted, and the subscription saves it; of all else nobody says yes. *)
Unknown(a) ==
  /\ at[a].step \in {"claim", "publish", "save"} /\ faults < MaxFaults /\ faults' = faults + 1
  /\ (Land(Sent(a)) /\ UNCHANGED late) \/ (late' = late \cup {Sent(a)} /\ UNCHANGED <<claim, created, log, due, knewOrder>>)
  /\ At(a, IF at[a].step = "save" \/ ~UnknownIsNoYes THEN "logged" ELSE "unknown", at[a].event)

Crash(a) ==
  /\ at[a].step \in {"claim", "look", "publish", "save"} /\ faults < MaxFaults /\ faults' = faults + 1
  /\ late' = IF at[a].step = "look" THEN late ELSE late \cup {Sent(a)}
  /\ At(a, "dead", at[a].event)
  /\ UNCHANGED <<claim, created, log, due, knewOrder>>

LandLate(w) == Land(w) /\ late' = late \ {w} /\ UNCHANGED <<at, faults>>

Attempt(a) == Begin(a) \/ Claim(a) \/ Look(a) \/ PublishOrSave(a)
Request == /\ \/ \E a \in Attempts : Attempt(a) \/ Unknown(a) \/ Crash(a)
              \/ \E w \in late : LandLate(w)
           /\ UNCHANGED <<keyed, delivery, rebuild, toRead>>

-----------------------------------------------------------------------------
(* The log and the subscription: a record is delivered until it is acknowledged, and that is after it was saved. *)

PublishOutside ==
  /\ <<TheKey, Outside>> \notin log /\ Publish(<<TheKey, Outside>>)
  /\ UNCHANGED <<keyed, at, late, delivery, rebuild, toRead, faults>>

(* Saved, then acknowledged; the other way round without AckAfterSave, and then a process may die in between. *)
Take(record) ==
  /\ record \in due \ delivery /\ delivery' = delivery \cup {record}
  /\ IF AckAfterSave THEN SaveFact(record[1], record[2])
                     ELSE due' = due \ {record} /\ UNCHANGED <<claim, created, log, knewOrder>>
  /\ UNCHANGED <<keyed, at, late, rebuild, toRead, faults>>
Finish(record) ==
  /\ record \in delivery /\ delivery' = delivery \ {record}
  /\ IF AckAfterSave THEN due' = due \ {record} /\ UNCHANGED <<claim, created, log, knewOrder>>
                     ELSE SaveFact(record[1], record[2])
  /\ UNCHANGED <<keyed, at, late, rebuild, toRead, faults>>
(* The process dies. What was not acknowledged is delivered again. *)
CutOff(record) ==
  /\ record \in delivery /\ delivery' = delivery \ {record} /\ faults < MaxFaults /\ faults' = faults + 1
  /\ UNCHANGED <<keyed, at, claim, created, log, due, late, knewOrder, rebuild, toRead>>

Empty ==
  /\ Emptying /\ rebuild = "none" /\ rebuild' = "due"
  /\ claim' = [o \in Orders |-> None] /\ created' = [o \in Orders |-> None] /\ knewOrder' = {}
  /\ UNCHANGED <<keyed, at, log, due, delivery, late, toRead, faults>>
(* It reads what the log holds when it begins, and publishes nothing. *)
BeginRebuild ==
  /\ rebuild = "due" /\ rebuild' = "begun" /\ toRead' = log
  /\ UNCHANGED <<keyed, at, claim, created, log, due, delivery, late, knewOrder, faults>>
Rebuild(record) ==
  /\ record \in toRead /\ SaveFact(record[1], record[2]) /\ toRead' = toRead \ {record}
  /\ UNCHANGED <<keyed, at, delivery, late, rebuild, faults>>

Records == Orders \X (Attempts \cup {Outside})
Next == Request \/ PublishOutside \/ Empty \/ BeginRebuild \/ \E r \in Records : Take(r) \/ Finish(r) \/ CutOff(r) \/ Rebuild(r)
Spec == Init /\ [][Next]_vars /\ WF_vars(BeginRebuild)
             /\ \A r \in Records : WF_vars(Take(r)) /\ WF_vars(Finish(r)) /\ WF_vars(Rebuild(r))

-----------------------------------------------------------------------------
Accepted(a) == at[a].step \in {"stored", "logged"}
(* What was accepted is in the log, and so is what is stored: no order is lost, and none is known to one side only. *)
AcceptedIsLogged == \A a \in Attempts : Accepted(a) => \E r \in log : r[1] = Order(a)
StoredIsLogged   == \A o \in Orders : created[o] # None => <<o, created[o]>> \in log
(* A key is one order, told in one version. A store that is lost takes its claims with it, and somebody outside tells *)
(* what he likes: an event of his does not count here.                                                              *)
OneVersion == rebuild = "none" => Cardinality({r \in log : r[1] = TheKey /\ r[2] # Outside}) <= 1
(* An order that was stored when it was claimed is not told again. *)
NotToldAgain == \A a \in knewOrder : <<TheKey, a>> \notin log
(* A fact stays as it is. *)
FactStays == [][rebuild' = "due" \/ \A o \in Orders : created[o] # None => created'[o] = created[o]]_vars
(* What is in the log is stored in the end, also in a store that was emptied. *)
LoggedIsStored == \A o \in Orders : (\E r \in log : r[1] = o) ~> created[o] # None
=============================================================================
