------------------------------- MODULE Fence -------------------------------
(* Models the unit of work of strategy "transactional". A replica reads the fence and the documents for its decision. *)
(* One transaction writes the decision, a chunk of the list and the fence. A replica that seems to be alone guards    *)
(* the fence instead of each document. After another replica was faster, a replica is cautious: it guards each        *)
(* document, and writes the fence without a guard.                                                                    *)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS Replicas, Ids, None,
          MaxNumber,     \* the limit of chunk numbers, which no run reaches
          MaxFaults,     \* the limit of transactions with an unknown outcome
          (* Guards of the code. FALSE removes a guard. *)
          FenceGuarded, FenceMoved, FenceFirst, CautiousGuards, BeginCreateOnly

VARIABLES fence,    \* the number of times that the fence was written
          doc,      \* id -> its creator and the number of its chunk, or None
          chunk,    \* chunk number -> the id of the document in this chunk, or None
          at,       \* replica -> its current step
          cautious, \* replicas that guard each document
          memory,   \* replica -> the newest chunk number that it has seen, or None
          answer,   \* <<replica, id>> -> the document that its caller received, or None
          late, faults

vars == <<fence, doc, chunk, at, cautious, memory, answer, late, faults>>

Idle == [step |-> "idle"]
Init == /\ fence = 0 /\ doc = [i \in Ids |-> None] /\ chunk = [n \in 0..MaxNumber |-> None] /\ at = [r \in Replicas |-> Idle]
        /\ cautious \in SUBSET Replicas /\ memory = [r \in Replicas |-> None] /\ answer = [c \in Replicas \X Ids |-> None]
        /\ late = {} /\ faults = 0

End == CHOOSE n \in 0..(MaxNumber + 1) : (n > MaxNumber \/ chunk[n] = None) /\ \A m \in 0..(n - 1) : chunk[m] # None

(* A replica reads the fence and the document in two steps, because a store may read them at different times. *)
ReadOne(r, id) ==
  /\ at[r] = Idle /\ answer[<<r, id>>] = None
  /\ at' = [at EXCEPT ![r] = [step |-> "reading", id |-> id, fence |-> fence, found |-> doc[id]]]
  /\ UNCHANGED <<fence, doc, chunk, cautious, memory, answer, late, faults>>
ReadOther(r) ==
  LET t == at[r] IN
  /\ t.step = "reading"
  /\ at' = [at EXCEPT ![r] = [t EXCEPT !.step = "read", !.fence = IF FenceFirst THEN t.fence ELSE fence,
                                                        !.found = IF FenceFirst THEN doc[t.id] ELSE t.found]]
  /\ UNCHANGED <<fence, doc, chunk, cautious, memory, answer, late, faults>>

(* If the document is stored, it is the answer. Otherwise a transaction begins. It takes the number of the chunk from *)
(* memory, or searches for the first missing number.                                                                      *)
Decide(r) ==
  LET t == at[r] IN
  /\ t.step = "read"
  /\ IF t.found # None
       THEN at' = [at EXCEPT ![r] = Idle] /\ answer' = [answer EXCEPT ![<<r, t.id>>] = t.found]
       ELSE /\ LET n == IF memory[r] = None THEN End ELSE memory[r] + 1
               IN n <= MaxNumber /\ at' = [at EXCEPT ![r] = [step |-> "sent", id |-> t.id, fence |-> t.fence, alone |-> r \notin cautious,
                                                             value |-> [by |-> r, n |-> n]]]
            /\ UNCHANGED answer
  /\ UNCHANGED <<fence, doc, chunk, cautious, memory, late, faults>>

Passes(t) == /\ t.alone /\ FenceGuarded => fence = t.fence
             /\ ~t.alone /\ CautiousGuards => doc[t.id] = None
             /\ BeginCreateOnly => chunk[t.value.n] = None
Land(t) ==
  IF Passes(t)
    THEN /\ doc' = [doc EXCEPT ![t.id] = t.value] /\ chunk' = [chunk EXCEPT ![t.value.n] = t.id]
         /\ fence' = IF FenceMoved \/ t.alone THEN fence + 1 ELSE fence
    ELSE UNCHANGED <<doc, chunk, fence>>

Transact(r) ==
  LET t == at[r] IN
  /\ t.step = "sent" /\ Land(t) /\ at' = [at EXCEPT ![r] = Idle]
  /\ IF Passes(t)
       THEN /\ memory' = [memory EXCEPT ![r] = t.value.n] /\ answer' = [answer EXCEPT ![<<r, t.id>>] = t.value]
            /\ UNCHANGED cautious
       ELSE /\ memory' = [memory EXCEPT ![r] = None] /\ cautious' = cautious \cup {r} /\ UNCHANGED answer
  /\ UNCHANGED <<late, faults>>

(* The answer is lost or the replica dies. Kafka delivers the event again. The sent transaction takes effect at once, *)
(* late or never.                                                                                                     *)
Unknown(r) ==
  LET t == at[r] IN
  /\ t.step = "sent" /\ faults < MaxFaults /\ faults' = faults + 1
  /\ at' = [at EXCEPT ![r] = Idle] /\ memory' = [memory EXCEPT ![r] = None]
  /\ (Land(t) /\ UNCHANGED late) \/ (late' = late \cup {t} /\ UNCHANGED <<doc, chunk, fence>>)
  /\ UNCHANGED <<cautious, answer>>

LandLate(t) == Land(t) /\ late' = late \ {t} /\ UNCHANGED <<at, cautious, memory, answer, faults>>

(* A replica stops being cautious after ten seconds in which no other replica was faster. *)
Calm(r) == cautious' = cautious \ {r} /\ r \in cautious /\ UNCHANGED <<fence, doc, chunk, at, memory, answer, late, faults>>

Step(r) == (\E id \in Ids : ReadOne(r, id)) \/ ReadOther(r) \/ Decide(r) \/ Transact(r)
Next == (\E r \in Replicas : Step(r) \/ Unknown(r) \/ Calm(r)) \/ \E t \in late : LandLate(t)
Spec == Init /\ [][Next]_vars /\ \A r \in Replicas : WF_vars(Step(r))

-----------------------------------------------------------------------------
(* All answers for an id are its stored document, so there is one payment. *)
AnswersStored == \A c \in Replicas \X Ids : answer[c] # None => doc[c[2]] = answer[c]
(* Every stored document is listed: the chunk that it names contains its id. *)
Listed == \A id \in Ids : doc[id] # None => doc[id].n < End /\ chunk[doc[id].n] = id

AllAnswered == <>(\A c \in Replicas \X Ids : answer[c] # None)

Alike == Permutations(Replicas) \cup Permutations(Ids)
=============================================================================
