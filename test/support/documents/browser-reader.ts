import { openBrowser } from '@orderflow/stack/browser'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { answerOf, operationOf } from '../web/browser.ts'
import type { Instruction } from './instructions.ts'

export interface BrowserReader {
  page: Page
  /** Returns the unfolded operation, if the page is that of an API. */
  operation: () => Locator | undefined
  /** Follows an instruction of a document. Throws if the page does not show what the document names. */
  follow: (instruction: Instruction) => Promise<void>
  close: () => Promise<void>
}

interface Options {
  /** The difference between the ports of the stack and of the document. */
  offset?: number
  context?: BrowserContextOptions
  /** Runs a command, and returns its output. */
  outputOf?: (command: string) => Promise<string>
  /** Called before the reader presses or changes a visible part of the page. */
  onTarget?: (target: Locator) => Promise<void>
  /** Called when the page shows a text that the document names. */
  onSeen?: (text: Locator) => Promise<void>
}

/** Opens a browser for the instructions of a document. */
export async function createBrowserReader({
  offset = 0,
  context,
  outputOf = async (command) => {
    throw new Error(`no terminal can run ${command}`)
  },
  onTarget,
  onSeen,
}: Options = {}): Promise<BrowserReader> {
  const browser = await openBrowser()
  const page = await browser.newPage(context)
  /** The unfolded operation. */
  let operation: Locator | undefined

  async function act(target: Locator, action: (target: Locator) => Promise<void> = (found) => found.click()) {
    await onTarget?.(target)
    await action(target)
  }

  async function follow(instruction: Instruction): Promise<void> {
    if (instruction.do === 'open') {
      operation = undefined
      await page.goto(instruction.url.replace(/(?<=localhost:)\d+/, (port) => String(Number(port) + offset)))
    } else if (instruction.do === 'unfold') {
      operation = operationOf(page, instruction.operation)
      await act(operation.locator('.opblock-summary-control'))
    } else if (instruction.do === 'press') await act(control(operation ?? page.locator(front), instruction.name))
    else if (instruction.do === 'press link') await act(await firstLink(page, instruction.column))
    else if (instruction.do === 'change') {
      const { from, to } = instruction
      await act(page.locator('.cm-line', { hasText: from }), (line) => replaceLine(line, from, to))
    } else if (instruction.do === 'enter') {
      const text = await outputOf(instruction.command)
      await act(page.getByLabel(instruction.field), (field) => field.fill(text))
    } else {
      const seen = await see(instruction.text)
      await onSeen?.(seen)
    }
  }

  /** Waits until the page shows the text. Like a user, executes a GET again, because its answer can change. */
  async function see(text: string): Promise<Locator> {
    // The examples of an operation can look like its answer.
    const shown = operation ? answerOf(operation) : page
    const seen = shown.getByText(text).filter({ visible: true }).first()
    const isRead = await operation?.evaluate((block) => block.classList.contains('opblock-get'))
    for (let tries = 0; isRead && tries < 30 && !(await appears(seen)); tries += 1)
      await operation?.locator('.execute').click()
    await seen.waitFor()
    return seen
  }

  return { page, operation: () => operation, follow, close: () => browser.close() }
}

/** An open dialog, otherwise the whole page. */
const front = 'dialog[open], body:not(:has(dialog[open]))'

/** Returns true if the text appears in a second. */
const appears = (text: Locator) =>
  text.waitFor({ timeout: 1000 }).then(
    () => true,
    () => false,
  )

/** A part of the name is enough, because some names end with a number of problems. */
function control(place: Locator, name: string): Locator {
  const link = place.getByRole('link', { name })
  return place.getByRole('button', { name }).or(link).filter({ visible: true }).first()
}

async function firstLink(page: Page, column: string): Promise<Locator> {
  const header = page.getByRole('columnheader', { name: column, exact: true })
  await header.waitFor()
  const index = await header.evaluate((cell) => [...(cell.parentElement?.children ?? [])].indexOf(cell))
  const table = page.locator('table, [role=grid]').filter({ has: header })
  const cells = table.locator(`:is(td, [role=gridcell]):nth-child(${index + 1})`)
  return cells.getByRole('link').first()
}

/** Replaces a line of the editor as a user does, because its text is not a form field. */
async function replaceLine(line: Locator, from: string, to: string): Promise<void> {
  const text = (await line.textContent()) ?? ''
  const keyboard = line.page().keyboard
  await line.click()
  await keyboard.press('Home')
  await keyboard.press('Shift+End')
  await keyboard.insertText(text.trimStart().replace(from, to))
}
