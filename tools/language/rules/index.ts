import { docCommentStart } from './doc-comment-start.ts'
import { doubleNegation } from './double-negation.ts'
import { glossary } from './glossary.ts'
import { phrases } from './phrases.ts'
import { pronouns } from './pronouns.ts'
import type { Rule } from './rule.ts'
import { sentenceLength } from './sentence-length.ts'
import { suiteTitle } from './suite-title.ts'
import { testTitle } from './test-title.ts'
import { whatSubject } from './what-subject.ts'

export const rules: Rule[] = [
  phrases,
  glossary,
  sentenceLength,
  doubleNegation,
  docCommentStart,
  testTitle,
  suiteTitle,
  whatSubject,
  pronouns,
]
