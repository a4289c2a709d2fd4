import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pictureOf } from '@orderflow/event-monitor/screenshots'
import { repository } from '@orderflow/stack/base'
import { answerOf } from '../web/browser.ts'
import type { BrowserReader } from './browser-reader.ts'

/**
 * Takes a picture of the reader’s page; if its name contains `light`, in both colour schemes. On the page of an API, takes the answer of the unfolded operation.
 * @param picture the path of the file, from the folder `docs`
 */
export async function takePicture(picture: string, { page, operation }: BrowserReader): Promise<void> {
  const unfolded = operation()
  const part = unfolded && answerOf(unfolded)
  const schemes = picture.includes('-light.') ? (['light', 'dark'] as const) : (['light'] as const)
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const file = join(repository, 'docs', picture.replace('-light.', `-${colorScheme}.`))
    writeFileSync(file, await pictureOf(page, part))
  }
  await page.emulateMedia({ colorScheme: 'light' })
}
