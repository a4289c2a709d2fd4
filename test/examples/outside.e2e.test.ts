import { followDocument } from '../support/documents/follow-document.ts'

describe('docs/outside.md', () => {
  followDocument('docs/outside.md')
})
