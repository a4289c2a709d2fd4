------------------------------ MODULE Payments ------------------------------
(* Models how payment-service pays orders. An event is delivered until it is acknowledged. The service reads the  *)
(* payment. If the payment has no decision, the service decides, and saves the payment with a guard. Then it      *)
(* announces the stored payment and acknowledges the event. order-service stores the announcement. An order may   *)
(* arrive twice, be cancelled, or be paid manually. Replicas may stop at any step, and their sent writes may take *)
(* effect late.                                                                                                   *)
EXTENDS FiniteSets, Naturals

CONSTANTS Events, Replicas, None,
          MaxFaults,     \* the limit of lost answers and dying replicas
          Emptying,      \* TRUE: an operator empties the store once, and rebuilds it from the log
          (* Guards of the code. FALSE removes a guard. *)
          Guarded, SaveFirst, AnnounceStored, AnnounceAgain, AckAfterAnnounce, StopToEmpty, RebuiltFromAnnouncements

VARIABLES doc,       \* the payment of the order: decision, cancellation and refund
          at,        \* replica -> its current step
          due,       \* unacknowledged events
          announced, \* the published announcements: <<kind, number of the decision>>
          toTell,    \* the announcements that order-service still has to store
          order,     \* the announcements that order-service has stored
          late,      \* writes and announcements that may still take effect after their caller has stopped waiting
          rebuild,   \* the state of the rebuild: "none", "due" (the store was emptied), "begun" or "done"
          toRead,    \* the records that the rebuild still has to read
          made,      \* the number of decisions so far; each number is the time of a decision
          faults

vars == <<doc, at, due, announced, toTell, order, late, rebuild, toRead, made, faults>>

(* Each event except "cancel" asks for the payment. "again" is the same order, published a second time. *)
IsCancellation(e) == e = "cancel"
Nothing == [decision |-> None, approved |-> FALSE, cancelled |-> FALSE, refund |-> None]
Idle    == [step |-> "idle"]

Init == /\ doc = Nothing /\ at = [r \in Replicas |-> Idle] /\ due = Events /\ announced = {} /\ toTell = {} /\ order = {}
        /\ late = {} /\ rebuild = "none" /\ toRead = {} /\ made = 0 /\ faults = 0

(* The payment after an event. `was` is the payment before the event, and `new` is a new decision. *)
Charged(was, new)   == IF was.decision # None THEN was ELSE [was EXCEPT !.decision = new, !.approved = ~was.cancelled]
Cancelled(was, new) == IF was.approved /\ was.refund = None THEN [was EXCEPT !.cancelled = TRUE, !.refund = new]
                       ELSE [was EXCEPT !.cancelled = TRUE]
Become(was, e, new) == IF IsCancellation(e) THEN Cancelled(was, new) ELSE Charged(was, new)

(* The announcement after an event. It derives only from the stored payment. *)
News(state, e) == IF IsCancellation(e) THEN (IF state.refund = None THEN {} ELSE {<<"refund", state.refund>>})
                  ELSE {<<IF state.approved THEN "approval" ELSE "rejection", state.decision>>}

-----------------------------------------------------------------------------
Passes(w) == Guarded => doc = w.was
Publish(news) == announced' = announced \cup news /\ toTell' = toTell \cup news

(* A replica takes an event that is delivered for the first time, or again. *)
Take(r, e) ==
  /\ at[r] = Idle /\ e \in due
  /\ rebuild \in {"due", "begun"} => ~StopToEmpty
  /\ LET to == Become(doc, e, made + 1) IN
       /\ made' = IF to = doc THEN made ELSE made + 1
       /\ at' = [at EXCEPT ![r] =
            IF to # doc THEN [step |-> IF SaveFirst THEN "save" ELSE "announce", event |-> e, was |-> doc, to |-> to]
            ELSE [step |-> IF AnnounceAgain THEN "announce" ELSE "acknowledge", event |-> e, was |-> doc, to |-> doc]]
       /\ due' = IF AckAfterAnnounce THEN due ELSE due \ {e}
  /\ UNCHANGED <<doc, announced, toTell, order, late, rebuild, toRead, faults>>

(* If another replica has changed the document first, this replica decides again with the stored document. *)
Save(r) ==
  LET w == at[r] IN
  /\ w.step = "save"
  /\ IF Passes(w) THEN doc' = w.to /\ at' = [at EXCEPT ![r].step = IF SaveFirst THEN "announce" ELSE "acknowledge"] /\ UNCHANGED made
     ELSE LET to == Become(doc, w.event, made + 1) IN
          /\ UNCHANGED doc
          /\ made' = IF to = doc THEN made ELSE made + 1
          /\ at' = [at EXCEPT ![r] = [w EXCEPT !.was = doc, !.to = IF AnnounceStored \/ to # doc THEN to ELSE w.to,
                                              !.step = IF to # doc THEN "save" ELSE IF SaveFirst THEN "announce" ELSE "acknowledge"]]
  /\ UNCHANGED <<due, announced, toTell, order, late, rebuild, toRead, faults>>

Announce(r) ==
  LET w == at[r] IN
  /\ w.step = "announce" /\ Publish(News(w.to, w.event))
  /\ at' = [at EXCEPT ![r].step = IF SaveFirst \/ w.to = w.was THEN "acknowledge" ELSE "save"]
  /\ UNCHANGED <<doc, due, order, late, rebuild, toRead, made, faults>>

Acknowledge(r) ==
  /\ at[r].step = "acknowledge" /\ due' = due \ {at[r].event} /\ at' = [at EXCEPT ![r] = Idle]
  /\ UNCHANGED <<doc, announced, toTell, order, late, rebuild, toRead, made, faults>>

(* The answer is lost or the replica dies. The event is delivered again. A sent write takes effect at once, late or *)
(* never.                                                                                                           *)
Fail(r) ==
  /\ at[r] # Idle /\ faults < MaxFaults /\ faults' = faults + 1 /\ at' = [at EXCEPT ![r] = Idle]
  /\ late' = IF at[r].step \in {"save", "announce"} THEN late \cup {at[r]} ELSE late
  /\ UNCHANGED <<doc, due, announced, toTell, order, rebuild, toRead, made>>

LandLate(w) ==
  /\ late' = late \ {w}
  /\ IF w.step = "save" THEN doc' = (IF Passes(w) THEN w.to ELSE doc) /\ UNCHANGED <<announced, toTell>>
                        ELSE Publish(News(w.to, w.event)) /\ UNCHANGED doc
  /\ UNCHANGED <<at, due, order, rebuild, toRead, made, faults>>

(* order-service stores the announcement as a fact, then acknowledges it. A repeated fact has no effect. *)
Tell(news) ==
  /\ news \in toTell /\ order' = order \cup {news} /\ toTell' = toTell \ {news}
  /\ UNCHANGED <<doc, at, due, announced, late, rebuild, toRead, made, faults>>

-----------------------------------------------------------------------------
(* The store is lost while the service is stopped and no write is under way. It is rebuilt before the service starts. *)
Empty ==
  /\ Emptying /\ rebuild = "none" /\ rebuild' = "due" /\ doc' = Nothing
  /\ StopToEmpty => late = {} /\ \A r \in Replicas : at[r] = Idle
  /\ UNCHANGED <<at, due, announced, toTell, order, late, toRead, made, faults>>
BeginRebuild ==
  /\ rebuild = "due" /\ rebuild' = "begun"
  /\ toRead' = announced \cup (IF "cancel" \in Events THEN {<<"cancellation", None>>} ELSE {})
  /\ UNCHANGED <<doc, at, due, announced, toTell, order, late, made, faults>>
(* The rebuild may read facts in any order, and the earlier of two decisions applies. *)
Earlier(a, b) == IF a = None \/ b < a THEN b ELSE a
Restored(news) ==
  CASE news[1] = "cancellation" -> [doc EXCEPT !.cancelled = TRUE]
    [] news[1] = "refund"       -> [doc EXCEPT !.cancelled = TRUE, !.refund = Earlier(doc.refund, news[2])]
    [] OTHER -> [doc EXCEPT !.decision = Earlier(doc.decision, news[2]), !.approved = news[1] = "approval"]
Rebuild(news) ==
  /\ rebuild = "begun" /\ news \in toRead /\ toRead' = toRead \ {news}
  /\ IF RebuiltFromAnnouncements \/ news[1] \in {"refund", "cancellation"} THEN doc' = Restored(news) /\ UNCHANGED made
     ELSE doc' = Charged(doc, made + 1) /\ made' = made + 1
  /\ UNCHANGED <<at, due, announced, toTell, order, late, rebuild, faults>>
EndRebuild ==
  /\ rebuild = "begun" /\ toRead = {} /\ rebuild' = "done"
  /\ UNCHANGED <<doc, at, due, announced, toTell, order, late, toRead, made, faults>>
AnyRebuild == BeginRebuild \/ EndRebuild \/ \E n \in toRead : Rebuild(n)

Step(r) == Save(r) \/ Announce(r) \/ Acknowledge(r) \/ \E e \in Events : Take(r, e)
Next == \/ \E r \in Replicas : Step(r) \/ Fail(r)
        \/ \E w \in late : LandLate(w)
        \/ \E n \in toTell : Tell(n)
        \/ Empty \/ AnyRebuild
Spec == Init /\ [][Next]_vars /\ WF_vars(AnyRebuild) /\ WF_vars(\E n \in toTell : Tell(n))
             /\ \A r \in Replicas : WF_vars(Step(r))

-----------------------------------------------------------------------------
IsRefund(n) == n[1] = "refund"
(* A decision and a refund may each be announced several times, but always in the same version. *)
OneAnnouncement == \A n, m \in announced : IsRefund(n) = IsRefund(m) => n = m
(* There is one payment: the announced payment is the stored payment, except between a loss of the store and its *)
(* rebuild.                                                                                                      *)
Whole == rebuild \in {"none", "done"}
OnePayment == Whole => \A n \in announced : n[2] = IF IsRefund(n) THEN doc.refund ELSE doc.decision
(* No money is kept for an order whose cancellation was handled. *)
NothingKept == Whole /\ doc.cancelled /\ doc.approved => doc.refund # None \/ "cancel" \in due
(* Every order in the log becomes paid or rejected. *)
AllSettled == <>(\E n \in order : ~IsRefund(n))
=============================================================================
