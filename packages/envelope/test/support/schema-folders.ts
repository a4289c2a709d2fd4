import { fileURLToPath } from 'node:url'

export const schemaFolders = ['../../schemas', '../contract/schemas'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)
