/** Of `sessionStorage`: ends with the tab. */
export interface Drafts {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

const key = (entry: string) => `draft:${entry}`

/** What somebody wrote for a dead letter and has not sent; masked values stand in it by their placeholders alone. */
export function draftOf(storage: Drafts, entry: string): string | null {
  try {
    return storage.getItem(key(entry))
  } catch {
    return null
  }
}

/** Kept while it differs from the original. @returns false when the browser keeps nothing */
export function keepDraft(storage: Drafts, entry: string, text: string, original: string): boolean {
  try {
    if (text === original) storage.removeItem(key(entry))
    else storage.setItem(key(entry), text)
    return true
  } catch {
    return false
  }
}
