import { useLayoutEffect, useRef } from 'preact/hooks'
import { type Act, type Command, keyReader } from '../lib/keys.ts'
import { go } from './location.ts'

/** Actions for keys. If an action returns false, the next component receives the key. */
export type Handlers = Partial<Record<Act, () => boolean | undefined>>

const stack: { current: Handlers }[] = []

/** Handles keys while the component is mounted. The component that was mounted last receives each key first. */
export function useKeys(handlers: Handlers): void {
  const current = useRef(handlers)
  current.current = handlers
  useLayoutEffect(() => {
    stack.push(current)
    return () => {
      stack.splice(stack.indexOf(current), 1)
    }
  }, [])
}

export function listenToKeys(): void {
  const read = keyReader()
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || document.querySelector('dialog[open]')) return
    const target = event.composedPath()[0] as HTMLElement
    const command = read({
      key: event.key,
      isChord: event.ctrlKey || event.metaKey || event.altKey,
      isTyping: target.isContentEditable || target.matches('input:not([type=checkbox]), textarea, select'),
      isOnControl: target.matches('a, button, summary, input[type=checkbox]'),
    })
    if (command?.does === 'leave') target.blur()
    else if (command && run(command)) event.preventDefault()
  })
}

function run(command: Exclude<Command, { does: 'leave' }>): boolean {
  if (command.does === 'go') {
    go(command.href)
    return true
  }
  const { does } = command
  return stack.toReversed().some(({ current }) => current[does] !== undefined && current[does]?.() !== false)
}
