export type Act = 'search' | 'next' | 'previous' | 'open' | 'back' | 'pause' | 'help' | 'conversation'
/** `leave` moves the focus out of an input field. */
export type Command = { does: Act } | { does: 'leave' } | { does: 'go'; href: string }

/** Maps a key that is pressed after `g` to a view. */
export const destinations: Record<string, { href: string; title: string }> = {
  l: { href: '/', title: 'Live' },
  d: { href: '/dead', title: 'Dead letters' },
  m: { href: '/missing', title: 'Missing' },
  t: { href: '/deadlines', title: 'Deadlines' },
  p: { href: '/publishers', title: 'Publishers' },
  s: { href: '/schemas', title: 'Schemas' },
  h: { href: '/health', title: 'Health' },
  a: { href: '/audit', title: 'Audit' },
}

const single: Record<string, Act> = {
  '/': 'search',
  j: 'next',
  ArrowDown: 'next',
  k: 'previous',
  ArrowUp: 'previous',
  Enter: 'open',
  Escape: 'back',
  ' ': 'pause',
  c: 'conversation',
  '?': 'help',
}

export interface Pressed {
  key: string
  /** True if Ctrl, Alt or Meta is pressed. */
  isChord: boolean
  isTyping: boolean
  /** True if the focus is on a control that Enter and Space activate. */
  isOnControl: boolean
}

/** Returns a function that turns keys into commands. After `g`, it waits one second for the next key. */
export function keyReader(now: () => number = Date.now): (pressed: Pressed) => Command | undefined {
  let goes = Number.NEGATIVE_INFINITY
  return ({ key, isChord, isTyping, isOnControl }) => {
    if (isChord) return undefined
    if (isTyping) return key === 'Escape' ? { does: 'leave' } : undefined
    const isGoing = now() - goes < 1000
    goes = Number.NEGATIVE_INFINITY
    const destination = isGoing && Object.hasOwn(destinations, key) ? destinations[key] : undefined
    if (destination) return { does: 'go', href: destination.href }
    if (key === 'g') {
      goes = now()
      return undefined
    }
    if (isOnControl && (key === 'Enter' || key === ' ')) return undefined
    const does = Object.hasOwn(single, key) ? single[key] : undefined
    return does && { does }
  }
}
