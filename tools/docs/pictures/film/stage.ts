import { setTimeout as delay } from 'node:timers/promises'
import { openBrowser } from '@orderflow/stack/browser'
import type { Locator, Page } from 'playwright-core'
import type { RecordedLine } from '../recording.ts'
import { colourStyle, elementOf, escaped, rowsOf } from '../terminal-text.ts'

/** A picture of the film, as PNG, and its duration in milliseconds. */
export interface Frame {
  png: Buffer
  ms: number
}

export interface Stage {
  frames: readonly Frame[]
  /** Sets the text above the next scenes. */
  caption: (text: string) => void
  /** Shows a terminal in which the lines appear. */
  terminal: (lines: readonly RecordedLine[]) => Promise<void>
  /** Shows the reader’s page until viewers have read it. */
  browser: (page: Page) => Promise<void>
  /** Marks a text of the reader’s page until the caption changes. */
  mark: (text: Locator) => void
  /** Moves the pointer to a part of the reader’s page. */
  pointAt: (target: Locator) => Promise<void>
  close: () => Promise<void>
}

/** The size of the reader’s page, and of the whole film. */
export const viewport = { width: 1280, height: 680 }
const size = { width: 1360, height: 850 }

const terminalRows = 34
/** The time in which a page shows its data. */
const loadingMs = 700
/** The height of a window’s title. */
const bar = 36
/** The longest time that the lines of one terminal take. */
const linesMs = 5000
const readingMs = (text: string) => 800 + 30 * text.length

const style = `
* { box-sizing: border-box; margin: 0 } body { background: #2b3445; font: 20px system-ui, sans-serif; color: #fff }
h1 { font-size: 24px; font-weight: 500; height: 94px; padding: 0 40px; display: flex; align-items: center }
.window { margin: 0 40px; width: ${viewport.width}px; border-radius: 8px; overflow: hidden; box-shadow: 0 4px 24px #0008; position: relative }
.bar { height: ${bar}px; background: #d6dae1; color: #333; font: 15px/${bar}px system-ui, sans-serif; padding: 0 16px }
.terminal { height: ${viewport.height}px; background: #161b22; color: #d8dee9; font: 15.5px/19px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; padding: 14px 18px; white-space: pre; overflow: hidden }
${colourStyle('color')}
img { display: block } .pointer { position: absolute; width: 26px; height: 26px; margin: -13px; border-radius: 50%; background: #f97316b0; border: 2px solid #fff }
.mark { position: absolute; border: 3px solid #f97316; border-radius: 4px }
`

/** Opens a browser that draws the film: a caption, and below it a terminal or the page of the reader. */
export async function createStage(): Promise<Stage> {
  const browser = await openBrowser()
  const stage = await browser.newPage({ viewport: size })
  const frames: Frame[] = []
  let caption = ''
  let marked: Locator[] = []
  let pointer = { x: viewport.width / 2, y: viewport.height / 2 }

  async function draw(ms: number, title: string, content: string): Promise<void> {
    const body = `<h1>${escaped(caption)}</h1><div class="window"><div class="bar">${escaped(title)}</div>${content}</div>`
    await stage.setContent(`<style>${style}</style>${body}`)
    frames.push({ png: await stage.screenshot(), ms })
  }

  async function drawPage(page: Page, ms: number, picture: Buffer): Promise<void> {
    const { x, y } = pointer
    const image = `<img src="data:image/png;base64,${picture.toString('base64')}">`
    const boxes = await Promise.all(marked.map((text) => text.boundingBox()))
    const marks = boxes.map(
      (box) =>
        box &&
        `<div class="mark" style="left: ${box.x - 6}px; top: ${box.y + bar - 4}px; width: ${box.width + 12}px; height: ${box.height + 8}px"></div>`,
    )
    const dot = `<div class="pointer" style="left: ${x}px; top: ${y + bar}px"></div>`
    await draw(ms, page.url(), image + marks.join('') + dot)
  }

  return {
    frames,
    caption: (text) => {
      caption = text
      marked = []
    },
    mark: (text) => {
      marked.push(text)
    },
    async terminal(lines) {
      const rows = lines.flatMap(({ at, text }) => rowsOf(text).map((pieces) => ({ at, pieces })))
      const speed = Math.max(1, (lines.at(-1)?.at ?? 0) / linesMs)
      for (const [index, { at }] of rows.entries()) {
        const next = rows[index + 1]
        if (next && next.at - at < 40) continue
        const shown = rows.slice(Math.max(0, index + 1 - terminalRows), index + 1)
        const text = shown.map(({ pieces }) => pieces.map((piece) => elementOf('span', piece)).join('')).join('\n')
        await draw(
          next ? (next.at - at) / speed : readingMs(caption),
          'Terminal',
          `<div class="terminal">${text}</div>`,
        )
      }
    },
    async browser(page) {
      await delay(loadingMs)
      await drawPage(page, readingMs(caption), await page.screenshot())
    },
    async pointAt(target) {
      const box = await target.boundingBox()
      if (!box) return
      const from = pointer
      const to = { x: box.x + Math.min(box.width / 2, 200), y: box.y + box.height / 2 }
      const page = target.page()
      await delay(loadingMs)
      const picture = await page.screenshot()
      const steps = 12
      for (let step = 1; step <= steps; step += 1) {
        const part = (1 - Math.cos((Math.PI * step) / steps)) / 2
        pointer = { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
        await drawPage(page, step === steps ? 400 : 40, picture)
      }
    },
    close: () => browser.close(),
  }
}
