import { followDocument } from '../support/documents/follow-document.ts'

const document = 'docs/first-order.md'

describe(document, () => {
  followDocument(document)
})
