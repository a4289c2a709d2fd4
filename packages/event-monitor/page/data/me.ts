import { signal } from '@preact/signals'
import { type Me, paths } from '../../src/api/index.ts'
import { get, isRefusal } from './api.ts'

/** Who looks, and what they may do; null until it is known. */
export const me = signal<Me | null>(null)

export const may = (scope: 'events:operate' | 'events:reveal') => me.value?.scopes.includes(scope) ?? false

/** Again until it is known: the monitor may still be starting. Not when it lets nobody in. */
export async function askWhoLooks(): Promise<void> {
  try {
    me.value = await get<Me>(paths.me)
  } catch (error) {
    if (!isRefusal(error)) setTimeout(askWhoLooks, 3000)
  }
}
