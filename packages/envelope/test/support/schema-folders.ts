import { fileURLToPath } from 'node:url'

/** The folders of the envelope's schemas and of the contract of these tests. */
export const schemaFolders = ['../../schemas', '../contract/schemas'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)
