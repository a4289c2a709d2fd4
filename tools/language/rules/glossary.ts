import { patternRule } from './rule.ts'

/** Reports words that have another name in docs/glossary.md. */
export const glossary = patternRule('glossary', [
  {
    words:
      /(?<!\b(?:dead|capital|small|lower-case|upper-case|first|own|one|of|in)[ -])\bletters?\b(?! ?(?:and|or|,) (?:digit|number|mark))/i,
    fix: 'write “dead letter”',
    bad: 'The letter names its reason.',
    good: 'The dead letter names its reason.',
  },
  {
    words:
      /\b(?:its|their|whose|which|the same|each) places?\b(?= (?:in|of) (?:the |its |a )?(?:log|topic|partition|record|event))|\bplaces? of (?:a |the |each |its )?(?:record|event)s?\b/i,
    fix: 'write “record position”, or “position”',
    bad: 'The id has the place of the record.',
    good: 'The id has the record position.',
  },
  {
    words: /\b(?:resends?|resent|resending)\b/i,
    fix: 'write “replay”; a store is rebuilt',
    bad: 'An event that was resent keeps its id.',
    good: 'A replayed event keeps its id.',
  },
  {
    words: /\bmend(?:s|ed|ing)?\b/i,
    fix: 'write “edit”, “fix” or “correct”',
    bad: 'An event can be mended first.',
    good: 'An event can be edited first.',
  },
  {
    words: /\b(?:sets?|setting|is|are|was|were|be|been) aside\b|\bset-aside\b/i,
    fix: 'write “rejects to the dead-letter topic”, or “rejects”',
    bad: 'It sets aside what it cannot read.',
    good: 'It rejects unreadable records to the dead-letter topic.',
  },
  {
    words: /\b(?:tells|says|said)\b|(?<!\b(?:is|are|was|were|be|been|being) )\btold\b/i,
    fix: 'write “reports”, “returns”, “states” or “shows”',
    bad: 'The header tells which service failed.',
    good: 'The header names the service that failed.',
  },
  {
    words: /\bbeside\b/i,
    fix: 'write “next to”, “with” or “compared with”',
    bad: 'The schema beside the last release.',
    good: 'The schema compared with the last release.',
  },
])
