------------------------------ MODULE Sequence ------------------------------
(* Models how a service handles a batch of records of one partition. The sidecar delivers the batch, and delivers     *)
(* records with the status RETRY again. It may stop waiting for an answer, and then delivers the batch again, while   *)
(* the service still handles the earlier delivery.                                                                    *)
(*                                                                                                                    *)
(* A handler takes effect in a later step than it begins. It may fail before or after its effect, because of an       *)
(* outage or a bug, and it may hang. A record has its effect at most once, because handlers ignore known events.      *)
EXTENDS Naturals, Sequences

CONSTANTS MaxRepeats,    \* the limit of deliveries that are repeated without an answer
          MaxFaults,     \* the limit of attempts that fail or hang
          (* Guards of the code. FALSE removes a guard. *)
          KeyInSequence, HoldAfterOutage, HoldAfterBug, HeldIsRetried, TurnsOfPartition, OlderDeliveryStops,
          HandlerTimeLimit, TimedOutChangesNothing, DeadLetterIsFinal

Records == 1..3
Key     == <<"a", "a", "b">>
Earlier(r) == {q \in 1..(r - 1) : Key[q] = Key[r]}
Later(r)   == {q \in Records : r \in Earlier(q)}

(* A delivery without an answer is followed by the delivery with the next number. A delivery of records with the      *)
(* status RETRY has the number of the delivery before, which has ended.                                               *)
Deliveries == 0..MaxRepeats

VARIABLES at,       \* delivery -> record -> its state, see below
          bugs,     \* delivery -> the records that had a bug in their first attempt, and wait for the second or are in it
          newest,   \* the number of the newest delivery
          effects,  \* the records that have taken effect, in this sequence
          dead,     \* the records that have a dead letter
          late,     \* the records with a handler that was timed out, and that may still take effect
          faults

vars == <<at, bugs, newest, effects, dead, late, faults>>

(* The states of a record are "none" (outside the delivery), "due", "begun", "hung", "again", "handled", "dead",       *)
(* "failed" and "held". A record in "again" waits for its second attempt. A record is held if an earlier record of     *)
(* its key failed.                                                                                                    *)
Running == {"begun", "hung"}
Ended   == {"none", "handled", "dead", "failed", "held"}

Has(r) == \E i \in DOMAIN effects : effects[i] = r
TakeEffect(r) == effects' = IF Has(r) THEN effects ELSE Append(effects, r)

Init == /\ at = [d \in Deliveries |-> [r \in Records |-> IF d = 0 THEN "due" ELSE "none"]]
        /\ bugs = [d \in Deliveries |-> {}] /\ newest = 0
        /\ effects = <<>> /\ dead = {} /\ late = {} /\ faults = 0

-----------------------------------------------------------------------------
(* Attempts *)

IsIdle(d) == \A r \in Records : at[d][r] \notin Running
(* A repeated delivery waits for the attempts of earlier deliveries. An earlier delivery may have more records in      *)
(* later parts, whose attempts have not begun.                                                                        *)
HasTurn(d) == TurnsOfPartition => \A e \in 0..(d - 1) : IsIdle(e)

(* A delivery that was repeated only ends its current attempts. *)
Continues(d) == d = newest \/ ~OlderDeliveryStops
End(d, r, state) == at' = [at EXCEPT ![d][r] = IF Continues(d) THEN state ELSE "none"]

Blocks(d, q) == IF q \in bugs[d] THEN HoldAfterBug ELSE KeyInSequence /\ at[d][q] \in Running \cup {"due"}

Begin(d, r) ==
  /\ at[d][r] = "due" /\ HasTurn(d)
  /\ \A q \in Earlier(r) : ~Blocks(d, q)
  /\ \A q \in bugs[d] : at[d][q] \notin Running
  /\ at' = [at EXCEPT ![d][r] = IF DeadLetterIsFinal /\ r \in dead THEN "dead" ELSE "begun"]
  /\ UNCHANGED <<bugs, newest, effects, dead, late, faults>>

(* The second attempt begins when the delivery's other attempts have ended. *)
BeginAgain(d, r) ==
  /\ at[d][r] = "again" /\ HasTurn(d) /\ IsIdle(d)
  /\ at' = [at EXCEPT ![d][r] = "begun"]
  /\ UNCHANGED <<bugs, newest, effects, dead, late, faults>>

Succeed(d, r) ==
  /\ at[d][r] = "begun" /\ TakeEffect(r)
  /\ End(d, r, "handled") /\ bugs' = [bugs EXCEPT ![d] = @ \ {r}]
  /\ UNCHANGED <<newest, dead, late, faults>>

(* A handler fails before or after its effect. *)
Fail(d, r) == /\ at[d][r] = "begun" /\ faults < MaxFaults /\ faults' = faults + 1
              /\ TakeEffect(r) \/ UNCHANGED effects

Outage(d, r) ==
  /\ Fail(d, r)
  /\ at' = [at EXCEPT ![d] = [q \in Records |->
       IF q = r THEN IF Continues(d) THEN "failed" ELSE "none"
       ELSE IF HoldAfterOutage /\ q \in Later(r) /\ @[q] = "due" THEN "held" ELSE @[q]]]
  /\ bugs' = [bugs EXCEPT ![d] = @ \ {r}]
  /\ UNCHANGED <<newest, dead, late>>

(* After a first bug, the record is handled again. After a second bug, it gets a dead letter. *)
AfterBug(d, r) ==
  IF r \in bugs[d]
    THEN End(d, r, "dead") /\ bugs' = [bugs EXCEPT ![d] = @ \ {r}] /\ dead' = dead \cup {r}
    ELSE End(d, r, "again") /\ bugs' = [bugs EXCEPT ![d] = IF Continues(d) THEN @ \cup {r} ELSE @] /\ UNCHANGED dead

Bug(d, r) == Fail(d, r) /\ AfterBug(d, r) /\ UNCHANGED <<newest, late>>

Hang(d, r) ==
  /\ at[d][r] = "begun" /\ faults < MaxFaults /\ faults' = faults + 1
  /\ at' = [at EXCEPT ![d][r] = "hung"]
  /\ UNCHANGED <<bugs, newest, effects, dead, late>>

(* A timed-out handler is a bug, but its code may still run. *)
TimeOut(d, r) ==
  /\ at[d][r] = "hung" /\ HandlerTimeLimit /\ AfterBug(d, r)
  /\ late' = IF TimedOutChangesNothing THEN late ELSE late \cup {r}
  /\ UNCHANGED <<newest, effects, faults>>

LateEffect(r) == r \in late /\ TakeEffect(r) /\ late' = late \ {r} /\ UNCHANGED <<at, bugs, newest, dead, faults>>

-----------------------------------------------------------------------------
(* Deliveries *)

IsRetried(state) == state = "failed" \/ (state = "held" /\ HeldIsRetried)

(* The service answers, and the sidecar delivers the records with the status RETRY again. *)
Answer(d) ==
  /\ d = newest /\ \A r \in Records : at[d][r] \in Ended
  /\ \E r \in Records : at[d][r] # "none"
  /\ at' = [at EXCEPT ![d] = [r \in Records |-> IF IsRetried(@[r]) THEN "due" ELSE "none"]]
  /\ UNCHANGED <<bugs, newest, effects, dead, late, faults>>

(* The sidecar stops waiting. It repeats the records of the delivery. After a restart, it repeats the whole batch. *)
Repeat ==
  LET open == {r \in Records : at[newest][r] # "none"} IN
  /\ newest < MaxRepeats /\ newest' = newest + 1 /\ open # {}
  /\ \E repeated \in {open, Records} :
       at' = [at EXCEPT ![newest] = [r \in Records |->
                                       IF OlderDeliveryStops /\ @[r] \notin Running THEN "none" ELSE @[r]],
                        ![newest + 1] = [r \in Records |-> IF r \in repeated THEN "due" ELSE "none"]]
  /\ bugs' = [bugs EXCEPT ![newest] = {r \in @ : OlderDeliveryStops => at[newest][r] \in Running}]
  /\ UNCHANGED <<effects, dead, late, faults>>

Step(d) == Answer(d) \/ \E r \in Records : Begin(d, r) \/ BeginAgain(d, r) \/ Succeed(d, r) \/ TimeOut(d, r)
Next == \/ \E d \in Deliveries : Step(d) \/ \E r \in Records : Outage(d, r) \/ Bug(d, r) \/ Hang(d, r)
        \/ Repeat
        \/ \E r \in Records : LateEffect(r)

(* A living process continues. A handler that hangs continues only if the service stops waiting for it. *)
Spec == Init /\ [][Next]_vars /\ \A d \in Deliveries : WF_vars(Step(d))

-----------------------------------------------------------------------------
(* A record takes effect only after all earlier records of its key have taken effect, or have a dead letter. *)
NoGap == \A r \in Records : Has(r) => \A q \in Earlier(r) : Has(q) \/ q \in dead
(* No record takes effect after a later record of its key. *)
InSequence == \A i, j \in DOMAIN effects : i < j => effects[j] \notin Earlier(effects[i])
(* A record with a dead letter never takes effect later. *)
DeadStaysDead == [][\A r \in dead : Has(r)' => Has(r)]_vars
(* In the end, every record has taken effect, or has a dead letter. *)
AllEnded == <>(\A r \in Records : Has(r) \/ r \in dead)
=============================================================================
