------------------------------ MODULE Payments ------------------------------
(* How payment-service pays what was ordered: an event is delivered until it is acknowledged. Its service reads the     *)
(* payment, decides unless that was done, saves under the document's guard, announces what is stored, acknowledges.     *)
(* order-service keeps what is announced. Orders may come several times, be cancelled, and be paid by hand; replicas    *)
(* stop at any step, and what they sent lands late.                                                                     *)
EXTENDS FiniteSets, Naturals

CONSTANTS Events, Replicas, None,
          MaxFaults,     \* answers that are lost, and replicas that die, together
          Emptying,      \* whether an operator empties the store once, and rebuilds it from the log
          (* The guards. FALSE takes one away. *)
          Guarded, SaveFirst, AnnounceStored, AnnounceAgain, AckAfterAnnounce, StopToEmpty, RebuiltFromAnnouncements

VARIABLES doc,       \* the payment of the order: what was decided, whether a cancellation was seen, what was refunded
          at,        \* replica -> what it is at
          due,       \* events that are yet to be acknowledged
          announced, \* what was published: <<kind, cause>>
          toTell,    \* of it, what order-service has yet to keep
          order,     \* what order-service has kept
          late,      \* writes and announcements that nobody waits for and that may land
          rebuild,   \* "none", "due" (the store was emptied), "begun", "done"
          toRead,    \* what the rebuild has still to read
          made,      \* how many decisions were made: each is another one, with another time
          faults

vars == <<doc, at, due, announced, toTell, order, late, rebuild, toRead, made, faults>>

(* Events are named by what they ask for. An order twice is one that was published twice. *)
IsCancellation(e) == e = "cancel"
Nothing == [decision |-> None, approved |-> FALSE, cancelled |-> FALSE, refund |-> None]
Idle    == [step |-> "idle"]

Init == /\ doc = Nothing /\ at = [r \in Replicas |-> Idle] /\ due = Events /\ announced = {} /\ toTell = {} /\ order = {}
        /\ late = {} /\ rebuild = "none" /\ toRead = {} /\ made = 0 /\ faults = 0

(* What a payment becomes by an event; `new` marks what is decided now. *)
Charged(was, new)   == IF was.decision # None THEN was ELSE [was EXCEPT !.decision = new, !.approved = ~was.cancelled]
Cancelled(was, new) == IF was.approved /\ was.refund = None THEN [was EXCEPT !.cancelled = TRUE, !.refund = new]
                       ELSE [was EXCEPT !.cancelled = TRUE]
Become(was, e, new) == IF IsCancellation(e) THEN Cancelled(was, new) ELSE Charged(was, new)

(* What is announced for an event: made of what is stored, and nothing else. *)
News(state, e) == IF IsCancellation(e) THEN (IF state.refund = None THEN {} ELSE {<<"refund", state.refund>>})
                  ELSE {<<IF state.approved THEN "approval" ELSE "rejection", state.decision>>}

-----------------------------------------------------------------------------
Passes(w) == Guarded => doc = w.was
Publish(news) == announced' = announced \cup news /\ toTell' = toTell \cup news

(* A delivery, or another one of the same event. *)
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

(* A save that lost the race is decided again on what is there. *)
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

(* No answer, or the replica dies: the event is delivered again. What was sent lands at once, or late, or never. *)
Fail(r) ==
  /\ at[r] # Idle /\ faults < MaxFaults /\ faults' = faults + 1 /\ at' = [at EXCEPT ![r] = Idle]
  /\ late' = IF at[r].step \in {"save", "announce"} THEN late \cup {at[r]} ELSE late
  /\ UNCHANGED <<doc, due, announced, toTell, order, rebuild, toRead, made>>

LandLate(w) ==
  /\ late' = late \ {w}
  /\ IF w.step = "save" THEN doc' = (IF Passes(w) THEN w.to ELSE doc) /\ UNCHANGED <<announced, toTell>>
                        ELSE Publish(News(w.to, w.event)) /\ UNCHANGED doc
  /\ UNCHANGED <<at, due, order, rebuild, toRead, made, faults>>

(* order-service keeps it as a fact, then acknowledges; a fact that is told again changes nothing. *)
Tell(news) ==
  /\ news \in toTell /\ order' = order \cup {news} /\ toTell' = toTell \ {news}
  /\ UNCHANGED <<doc, at, due, announced, late, rebuild, toRead, made, faults>>

-----------------------------------------------------------------------------
(* The store is lost, with the service stopped and nothing on its way, and rebuilt before it is started again. *)
Empty ==
  /\ Emptying /\ rebuild = "none" /\ rebuild' = "due" /\ doc' = Nothing
  /\ StopToEmpty => late = {} /\ \A r \in Replicas : at[r] = Idle
  /\ UNCHANGED <<at, due, announced, toTell, order, late, toRead, made, faults>>
BeginRebuild ==
  /\ rebuild = "due" /\ rebuild' = "begun"
  /\ toRead' = announced \cup (IF "cancel" \in Events THEN {<<"cancellation", None>>} ELSE {})
  /\ UNCHANGED <<doc, at, due, announced, toTell, order, late, made, faults>>
(* Facts commute, and of two decisions the earlier one counts. *)
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
(* One announcement: a decision and a refund are told in one version each, however often. *)
OneAnnouncement == \A n, m \in announced : IsRefund(n) = IsRefund(m) => n = m
(* One payment: what was announced is what is stored, unless the store is lost and not rebuilt yet. *)
Whole == rebuild \in {"none", "done"}
OnePayment == Whole => \A n \in announced : n[2] = IF IsRefund(n) THEN doc.refund ELSE doc.decision
(* No money is kept for an order whose cancellation was handled. *)
NothingKept == Whole /\ doc.cancelled /\ doc.approved => doc.refund # None \/ "cancel" \in due
(* Every order that is in the log becomes paid or rejected. *)
AllSettled == <>(\E n \in order : ~IsRefund(n))
=============================================================================
