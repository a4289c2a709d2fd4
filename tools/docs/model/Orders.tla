------------------------------- MODULE Orders -------------------------------
(* Models how order-service accepts orders: by requests with and without an Idempotency-Key, and by its subscription *)
(* to its own topic. Each attempt of a request creates an event with different bytes. All attempts with the key are  *)
(* one order: the first event claims it, and every attempt publishes this event. An event is published before it is  *)
(* saved. Every step may fail, and a sent write may take effect late.                                                *)
EXTENDS FiniteSets, Naturals

CONSTANTS Attempts, Outside, None,
          MaxFaults,    \* the limit of lost answers and dying attempts
          Emptying,     \* TRUE: an operator empties the store once, and rebuilds it from the log while the service runs
          (* Guards of the code. FALSE removes a guard. *)
          ClaimFirst, ClaimCreateOnly, PublishHolder, CreatedReadAgain, PublishFirst, UnknownIsNoYes,
          FactCreateOnly, OwnSubscription, AckAfterSave

VARIABLES keyed,     \* the attempts with the key; each other attempt is a separate order
          at,        \* attempt -> its current step
          claim, created,  \* order -> the event in the store, or None
          log,       \* the published pairs <<order, event>>
          due,       \* the published pairs that are not acknowledged
          delivery,  \* the published pairs that the service is handling
          late,      \* writes and publishes that may still take effect after their caller has stopped waiting
          knewOrder, \* attempts whose claim was written after the order was stored
          rebuild,   \* the state of the rebuild: "none", "due" (the store was emptied) or "begun"
          toRead,    \* the records that the rebuild still has to read
          faults

vars == <<keyed, at, claim, created, log, due, delivery, late, knewOrder, rebuild, toRead, faults>>

TheKey == "key"
Order(a) == IF a \in keyed \/ a = Outside THEN TheKey ELSE a
Orders == Attempts \cup {TheKey}
At(a, step, event) == at' = [at EXCEPT ![a] = [step |-> step, event |-> event]]

(* Any of the attempts may have the key. An outside publisher may guess the key and publish the same OrderId. *)
Init == /\ keyed \in SUBSET Attempts
        /\ at = [a \in Attempts |-> [step |-> "begin", event |-> a]]
        /\ claim = [o \in Orders |-> None] /\ created = [o \in Orders |-> None]
        /\ log = {} /\ due = {} /\ delivery = {} /\ late = {} /\ knewOrder = {} /\ rebuild = "none" /\ toRead = {} /\ faults = 0

-----------------------------------------------------------------------------
(* A claim, a fact or a record is written. *)

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
(* The steps of an attempt: begin, claim, (read again), publish, save, and an answer: "stored" (201), "logged" (202), *)
(* "unknown" (503).                                                                                                   *)

FirstOfTwo == IF PublishFirst THEN "publish" ELSE "save"

Begin(a) ==
  /\ at[a].step = "begin"
  /\ IF a \notin keyed \/ ~ClaimFirst THEN At(a, FirstOfTwo, a)
     ELSE IF created[TheKey] # None THEN At(a, "stored", created[TheKey])
     ELSE IF claim[TheKey] # None   THEN At(a, FirstOfTwo, IF PublishHolder THEN claim[TheKey] ELSE a)
     ELSE At(a, "claim", a)
  /\ UNCHANGED <<claim, created, log, due, late, knewOrder, faults>>

(* If another attempt has claimed the order first, this attempt begins again. *)
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

(* The sidecar does not answer. If the order is certainly in the log, it is accepted, and the subscription saves it *)
(* later. Otherwise the order is not accepted.                                                                      *)
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
(* The subscription. A record is delivered until the service acknowledges it, after saving it. *)

PublishOutside ==
  /\ <<TheKey, Outside>> \notin log /\ Publish(<<TheKey, Outside>>)
  /\ UNCHANGED <<keyed, at, late, delivery, rebuild, toRead, faults>>

(* The service saves the record, then acknowledges it. Without AckAfterSave, it acknowledges first, and may die *)
(* before it saves.                                                                                             *)
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
(* The process dies. Unacknowledged records are delivered again. *)
CutOff(record) ==
  /\ record \in delivery /\ delivery' = delivery \ {record} /\ faults < MaxFaults /\ faults' = faults + 1
  /\ UNCHANGED <<keyed, at, claim, created, log, due, late, knewOrder, rebuild, toRead>>

Empty ==
  /\ Emptying /\ rebuild = "none" /\ rebuild' = "due"
  /\ claim' = [o \in Orders |-> None] /\ created' = [o \in Orders |-> None] /\ knewOrder' = {}
  /\ UNCHANGED <<keyed, at, log, due, delivery, late, toRead, faults>>
(* The rebuild reads the log as it was when the rebuild began, and publishes nothing. *)
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
(* Every accepted order is in the log, and so is every stored order. No order is lost or incomplete. *)
AcceptedIsLogged == \A a \in Attempts : Accepted(a) => \E r \in log : r[1] = Order(a)
StoredIsLogged   == \A o \in Orders : created[o] # None => <<o, created[o]>> \in log
(* Each key has one order, and this order has one version in the log. Two cases are excluded: a lost store also loses *)
(* its claims, and an outside publisher may publish any event.                                                        *)
OneVersion == rebuild = "none" => Cardinality({r \in log : r[1] = TheKey /\ r[2] # Outside}) <= 1
(* If an order was stored before its claim, it is not published again. *)
NotToldAgain == \A a \in knewOrder : <<TheKey, a>> \notin log
(* A fact never changes. *)
FactStays == [][rebuild' = "due" \/ \A o \in Orders : created[o] # None => created'[o] = created[o]]_vars
(* Every order in the log is stored in the end, even in a store that was emptied. *)
LoggedIsStored == \A o \in Orders : (\E r \in log : r[1] = o) ~> created[o] # None
=============================================================================
