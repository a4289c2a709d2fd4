/** A folder of docs/examples/, made to run. */
export interface Example {
  language: string
  /** Publishes the event in a file. */
  publish: (file: string) => string[]
  /** Checks documents, as `verdictsOf` gives them. */
  check?: string[]
  env?: Record<string, string>
}

/** What somebody says of a document. */
export interface Verdict {
  code: string
  pointers: string[]
}

/** A document, and the schema that it is held against. */
export interface Question {
  check: 'full' | 'received'
  base64: string
}
