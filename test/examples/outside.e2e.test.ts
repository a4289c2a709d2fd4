import { followDocument } from '../support/follow-document.ts'

describe('docs/outside.md', () => {
  followDocument('docs/outside.md')
})
