------------------------------- MODULE Fence -------------------------------
(* The strategy "transactional": a replica reads the fence and the documents that it decides on, and writes what it      *)
(* decided, a chunk of the list and the fence in one transaction. While it seems to be alone, the guard of the fence     *)
(* stands for those of all documents that were read with it. After a lost race a replica is cautious: each document has  *)
(* its own guard, and the fence is moved without one.                                                                    *)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS Replicas, Ids, None,
          MaxNumber,     \* the highest number of a chunk, large enough never to be met
          MaxFaults,     \* transactions whose outcome nobody knows
          (* The guards. FALSE takes one away. *)
          FenceGuarded, FenceMoved, FenceFirst, CautiousGuards, BeginCreateOnly

VARIABLES fence,    \* how often it was written
          doc,      \* id -> what is stored: who created it, and the number of its chunk; or None
          chunk,    \* number -> what is stored: whose document is in it; or None
          at,       \* replica -> what it is at
          cautious, \* replicas that lost a race
          memory,   \* replica -> number of the newest chunk that it knows of, or None
          answer,   \* <<replica, id>> -> what its caller was told is stored, or None
          late, faults

vars == <<fence, doc, chunk, at, cautious, memory, answer, late, faults>>

Idle == [step |-> "idle"]
Init == /\ fence = 0 /\ doc = [i \in Ids |-> None] /\ chunk = [n \in 0..MaxNumber |-> None] /\ at = [r \in Replicas |-> Idle]
        /\ cautious \in SUBSET Replicas /\ memory = [r \in Replicas |-> None] /\ answer = [c \in Replicas \X Ids |-> None]
        /\ late = {} /\ faults = 0

End == CHOOSE n \in 0..(MaxNumber + 1) : (n > MaxNumber \/ chunk[n] = None) /\ \A m \in 0..(n - 1) : chunk[m] # None

(* The two halves of a read. A store may read document after document, and not all at one moment. *)
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

(* What is there already is the answer. Else a transaction: the number of its chunk comes from memory, or from a probe. *)
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

(* No answer, or the replica dies: the event comes again, and what is on its way lands late or never. *)
Unknown(r) ==
  LET t == at[r] IN
  /\ t.step = "sent" /\ faults < MaxFaults /\ faults' = faults + 1
  /\ at' = [at EXCEPT ![r] = Idle] /\ memory' = [memory EXCEPT ![r] = None]
  /\ (Land(t) /\ UNCHANGED late) \/ (late' = late \cup {t} /\ UNCHANGED <<doc, chunk, fence>>)
  /\ UNCHANGED <<cautious, answer>>

LandLate(t) == Land(t) /\ late' = late \ {t} /\ UNCHANGED <<at, cautious, memory, answer, faults>>

(* Ten seconds without a lost race. *)
Calm(r) == cautious' = cautious \ {r} /\ r \in cautious /\ UNCHANGED <<fence, doc, chunk, at, memory, answer, late, faults>>

Step(r) == (\E id \in Ids : ReadOne(r, id)) \/ ReadOther(r) \/ Decide(r) \/ Transact(r)
Next == (\E r \in Replicas : Step(r) \/ Unknown(r) \/ Calm(r)) \/ \E t \in late : LandLate(t)
Spec == Init /\ [][Next]_vars /\ \A r \in Replicas : WF_vars(Step(r))

-----------------------------------------------------------------------------
(* What somebody was answered is what is stored, so all are answered the same: one payment. *)
AnswersStored == \A c \in Replicas \X Ids : answer[c] # None => doc[c[2]] = answer[c]
(* The slot of a stored document leads to it. *)
Listed == \A id \in Ids : doc[id] # None => doc[id].n < End /\ chunk[doc[id].n] = id
(* Every event is answered. *)
AllAnswered == <>(\A c \in Replicas \X Ids : answer[c] # None)

Alike == Permutations(Replicas) \cup Permutations(Ids)
=============================================================================
