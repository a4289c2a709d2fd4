import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'

/** A picture: its name, and what is on it. */
export interface Picture {
  name: string
  /** With its query. */
  path: string
  /** Light alone without. */
  schemes?: ('light' | 'dark')[]
  /** What somebody does before it is taken, such as opening a step. */
  before?: (page: Page) => Promise<void>
}

interface Options {
  browser: Browser
  /** Of the monitor. */
  url: string
  /** Where `NAME-light.webp`, `NAME-dark.webp` are written. */
  folder: string
  pictures: Picture[]
  /** Pixels; the height of the page when it is higher. */
  width?: number
  height?: number
}

/** Pictures of views of a running monitor. */
export async function takePictures({ browser, url, folder, pictures, width = 1280, height = 800 }: Options) {
  mkdirSync(folder, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height }, reducedMotion: 'reduce' })
    try {
      for (const { name, path, schemes = ['light'], before } of pictures) {
        if (!schemes.includes(colorScheme)) continue
        const page = await context.newPage()
        await page.goto(url + path)
        await page.locator('main :is(h1)').first().waitFor({ state: 'attached' })
        await before?.(page)
        // What is asked for is answered, and drawn; how much there is to look at is asked for after a second.
        await page.waitForTimeout(1500)
        writeFileSync(join(folder, `${name}-${colorScheme}.webp`), await pictureOf(page))
        await page.close()
      }
    } finally {
      await context.close()
    }
  }
}

/** The whole page. As WebP, which playwright does not make: a third of a PNG. */
async function pictureOf(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { cssContentSize } = await session.send('Page.getLayoutMetrics')
  const clip = { ...cssContentSize, scale: 1 }
  const options = { format: 'webp' as const, quality: 85, clip, captureBeyondViewport: true }
  const { data } = await session.send('Page.captureScreenshot', options)
  return Buffer.from(data, 'base64')
}
