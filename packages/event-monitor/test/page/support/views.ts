import type { Page } from 'playwright-core'
import { guid } from './sample.ts'

/** The path of every view, and a selector for an element that is visible when the view is ready. */

export const views: Record<string, { path: string; ready: string; before?: (page: Page) => Promise<void> }> = {
  live: { path: '/', ready: '.event-row .what' },
  filtered: { path: '/?topic=orderevents&validity=invalid-payload&q=total', ready: '.chips a' },
  event: { path: '/e/orderevents/1/1204', ready: '.json-line' },
  id: { path: `/id/${guid(1, 4)}`, ready: 'main li .position' },
  conversation: { path: `/c/${guid(2, 1)}`, ready: '.step' },
  'conversation-table': { path: `/c/${guid(2, 1)}?as=table`, ready: 'main td' },
  'conversation-panel': {
    path: `/c/${guid(2, 1)}`,
    ready: '.step',
    before: async (page) => {
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.locator('.side-panel .json-line').first().waitFor()
    },
  },
  dead: { path: '/dead', ready: 'main td' },
  group: { path: '/dead?group=g1', ready: 'input[type=checkbox]' },
  entry: { path: `/dead/${guid(9, 4)}`, ready: '.cm-line' },
  missing: { path: '/missing', ready: 'main td' },
  deadlines: { path: '/deadlines', ready: 'main td' },
  publishers: { path: '/publishers', ready: 'main td' },
  schemas: { path: '/schemas', ready: '.schema' },
  health: { path: '/health', ready: '.tile' },
  audit: { path: '/audit', ready: 'main td' },
  'not-found': { path: '/nowhere', ready: 'main h1' },
}
