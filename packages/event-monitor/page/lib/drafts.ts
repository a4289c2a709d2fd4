/** The methods of `sessionStorage`, which the browser clears when the tab is closed. */
export type Drafts = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const key = (entry: string) => `draft:${entry}`

/** An unsent edit, with placeholders for masked values. */
export interface Draft {
  /** Position of the edited record: `a-topic/2/1234`. */
  attempt: string
  text: string
}

export function draftOf(storage: Drafts, entry: string): Draft | null {
  try {
    const draft = JSON.parse(storage.getItem(key(entry)) ?? 'null') as Partial<Draft> | null
    return typeof draft?.attempt === 'string' && typeof draft.text === 'string' ? (draft as Draft) : null
  } catch {
    return null
  }
}

/** Stores a draft; null removes it. @returns false if the browser has no storage */
export function keepDraft(storage: Drafts, entry: string, draft: Draft | null): boolean {
  try {
    if (draft === null) storage.removeItem(key(entry))
    else storage.setItem(key(entry), JSON.stringify(draft))
    return true
  } catch {
    return false
  }
}
