const actions = ['read', 'write', 'operate', 'reveal'] as const

/** What a caller's token or key must allow, such as `orders:write`: whose data it is, and what is done with it. */
export type Scope = `${string}:${(typeof actions)[number]}`

const form = new RegExp(`^[a-z][a-z-]*:(${actions.join('|')})$`)

export const isScope = (text: string): text is Scope => form.test(text)
