import { patternRule } from './rule.ts'

/** Reports phrases that are hard to read in a second language, or that have a shorter form. */
export const phrases = patternRule('phrases', [
  {
    words: /\b(?<!\bthere )(?:is|are|was|were|be) none\b/i,
    fix: 'write “is not a …”, “has no …” or an adjective',
    bad: 'A record whose key is none is refused.',
    good: 'A record with an invalid key is refused.',
  },
  {
    words:
      /\b(?:that|which|what|than|as|all|where|who) there (?:is|are|was|were)\b|\bthere (?:is|are|was|were)(?: not)?(?=[.,;:)!]|$)/i,
    fix: 'name the thing: “an unknown topic”, “every service”',
    bad: 'It answers 404 for a topic that there is not.',
    good: 'It answers 404 for an unknown topic.',
  },
  {
    words: /\bof (?:ours|theirs|yours|mine|one’s own|one's own)\b/i,
    fix: 'write “our …”, “their …”, “your …”',
    bad: 'An id of ours is refused.',
    good: 'One of our own ids is refused.',
  },
  {
    words: /\bof (?:before|after|then|later|now)\b/i,
    fix: 'write “earlier”, “previous”, “later” or “current”',
    bad: 'The position of before is kept.',
    good: 'The previous position is kept.',
  },
  {
    words: /\b(?:stands?|stood|standing) in\b/i,
    fix: 'write “is in” or “replaces”',
    bad: 'The address stands in the file.',
    good: 'The file has the address.',
  },
  {
    words:
      /\b(?:that|which|what|one|only|it|not|never|says|here) counts?(?=[.,;:)]|$)|\bcounts? (?:as|alike|here|too|as well)\b|\bdoes not count\b|\bcounts once\b/i,
    fix: 'write “applies”, “is used”, “is treated as” or “matters”',
    bad: 'The last of the two counts.\nAn empty value counts as absent.',
    good: 'The last value applies. An empty value is treated as absent.',
  },
  {
    words: /\b(?:is|are|was|were|be|been|being) told\b/i,
    fix: 'write “receives”, “learns” or “is shown”',
    bad: 'The operator is told of it.',
    good: 'The monitor shows it to the operator.',
  },
  {
    words: /\bwho(?:m|so)?ever\b/i,
    fix: 'name the person: “the caller”, “anyone who …”',
    bad: 'Whoever has the token may read.',
    good: 'A caller with the token may read.',
  },
  {
    words: /\b(?:no|some)body(?:’s|'s)?\b/i,
    fix: 'name the person, or use the passive',
    bad: 'Events that nobody reads are deleted.',
    good: 'Unread events are deleted.',
  },
  { words: /\banew\b/i, fix: 'write “again”', bad: 'It reads the file anew.', good: 'It reads the file again.' },
  {
    words: /\bbesides\b/i,
    fix: 'write “also” or “in addition to”',
    bad: 'Besides the log it reads the store.',
    good: 'It also reads the store.',
  },
  {
    words: /\bat hand\b/i,
    fix: 'write “available” or “installed”',
    bad: 'It uses Docker where it is at hand.',
    good: 'It uses Docker if it is installed.',
  },
  {
    words: /\b(?:go|goes|went|going|gone) on\b/i,
    fix: 'write “continues”',
    bad: 'The service goes on with the next event.',
    good: 'The service continues with the next event.',
  },
  {
    words: /\bby (?:itself|themselves)\b/i,
    fix: 'write “automatically” or “alone”',
    bad: 'It starts again by itself.',
    good: 'It restarts automatically.',
  },
  {
    words: /\b(?:takes?|took|taken|taking)[ -]in\b(?! (?:total|\d|milliseconds|seconds|minutes|hours))/i,
    fix: 'write “accepts”',
    bad: 'The gateway takes in an event.',
    good: 'The gateway accepts an event.',
  },
  {
    words: /\b(?:hands?|handed|handing)(?: it| them)? on\b/i,
    fix: 'write “forwards” or “passes”',
    bad: 'The sidecar hands it on to the service.',
    good: 'The sidecar forwards it to the service.',
  },
  { words: /\bonce more\b/i, fix: 'write “again”', bad: 'It tries once more.', good: 'It tries again.' },
  {
    words: /\b(?:comes?|came|coming) to\b/i,
    fix: 'write “results in”, “reaches” or “is”',
    bad: 'The total comes to 1,200 events.',
    good: 'The total is 1,200 events.',
  },
])
