import { expect } from 'chai'
import { patternFlaw } from '../src/schemas/pattern-cost.ts'
import { sharedRules } from '../src/schemas/schemas.ts'

const linear = [
  '',
  '^$',
  '[a-z]',
  '.*',
  '\\S+',
  '^.*foo',
  '(foo|bar)$',
  '^[A-Z]{3}$',
  '^[0-9a-fA-F]{64}$',
  '^[\\s\\S]{0,4000}$',
  '^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$',
  '^[a-z0-9]+(-[a-z0-9]+)*$',
  '^\\+?[0-9 ()-]{5,20}$',
  '^[^@\\s]+@[^@\\s.]+(\\.[^@\\s.]+)+$',
  '^https://[^\\s/]+(/\\S*)?$',
  '^(?<year>[0-9]{4})-W[0-9]{2}$',
  '^((25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\\.){3}(25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$',
  '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
  '^\\p{L}+( \\p{L}+)*$',
  '^(\\p{Lu}\\p{Ll}+)+$',
  '^[\\u{1F600}-\\u{1F64F}]+$',
  '\\bfoo\\b',
]

const slow: Record<string, string[]> = {
  'repeats a repetition': [
    '^([A-Z]+)+$',
    '^([a-z]+)*@$',
    '^(.*)*$',
    '^(a*)*$',
    '^((a+))+$',
    '(a+)+b',
    '^([0-9]{1,}){2,}$',
  ],
  'repeats alternatives that match the same text': [
    '^(a|a)*$',
    '^(a|aa)+$',
    '^(a|b|ab)*c',
    '^(\\d+|\\w)*$',
    '^(\\u0061|a)*$',
  ],
  'repeats optional parts': ['^(a?b?)*$', '^(a*b*)*$', '^(\\w+\\s?)*$', '^(?:\\p{L}+[ -]?)+$', '^(?:[^,]*,?)*$'],
  'has many ways within a limit': [
    '^(a?){25}a{25}$',
    '^(a|a){30}$',
    '^(a{1,10}){1,10}$',
    '^.{0,3000}x.{0,3000}$',
    '^((|){30})$',
  ],
  'has two repetitions of the same character': ['^a*a*$', '^.*foo.*$', '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$', '^\\s*[^,]+,'],
  'may begin at each character': ['\\s+$', '[a-z]+@', '[a-z]{1,1000}x', '(^a|b*)c'],
  'has emoji twice': ['^([\\u{1F600}-\\u{1F64F}]|😀)*$', '^([\\u{1F600}-\\u{1F64F}]|\\ud83d\\ude00)*$'],
}

const unsupported = ['^(?=a)b', '^(?!a)b', '(?<=a)b', '(?<!a)b', '^(a)\\1', '^(?<n>a)\\k<n>', '^(?i:a)b']

describe('patternFlaw', () => {
  for (const pattern of linear) {
    it(`accepts the pattern ${pattern || 'without a character'}`, () =>
      expect(patternFlaw(pattern)).to.equal(undefined))
  }

  it('accepts the shared rules', () => {
    for (const { pattern } of Object.values(sharedRules)) if (pattern) expect(patternFlaw(pattern)).to.equal(undefined)
  })

  for (const [what, patterns] of Object.entries(slow)) {
    it(`refuses a pattern that ${what}`, () => {
      for (const pattern of patterns)
        expect(patternFlaw(pattern), pattern).to.match(/^can take minutes for one long text/)
    })
  }

  it('refuses constructs that not every language has', () => {
    for (const pattern of unsupported) expect(patternFlaw(pattern), pattern).to.match(/^has a lookahead/)
  })
})
