import { Plus, X } from "lucide-react"
import { type ReactNode, useMemo, useRef } from "react"
import { Button } from "../../ui/controls/Button.tsx"
import { FilterSelect } from "../../ui/controls/FilterSelect.tsx"
import { Menu } from "../../ui/controls/Menu.tsx"
import { SearchField, type TypedText } from "../../ui/controls/SearchField.tsx"
import { cx } from "../../ui/display/cx.ts"
import { UntrustedText } from "../../ui/display/UntrustedText.tsx"
import { FilterBar } from "../../ui/layout/FilterBar.tsx"
import * as EmailFilter from "@waybill/domain/search/EmailFilter"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as MeantSearch from "@waybill/domain/search/MeantSearch"
import { SavedViews } from "./SavedViews.tsx"
import * as SearchedStatus from "@waybill/domain/search/SearchedStatus"
import { searchHints } from "@waybill/domain/search/searchHints"
import * as SearchText from "@waybill/domain/search/SearchText"
import { suggestionsOf } from "./suggestionsOf.ts"
import type { SearchContext } from "./useSearchContext.ts"

/** Statuses as the rows of the list show them. */
const STATUSES = SearchedStatus.OF_EMAILS.map((status) => ({ value: status, name: SearchedStatus.nameOf(status) }))

/** Filters of the menu, one for each word; statuses have a menu of their own. */
const INSERTED = EmailFilter.NAMES.map(EmailFilter.of).filter(
  ({ kind, words: [word] }, nth, all) => kind !== "statuses" && all.findIndex(({ words }) => words[0] === word) === nth,
)
const isOfTime = ({ kind }: (typeof INSERTED)[number]) => kind === "time" || kind === "due"

/** Searches that an empty box shows. */
const EXAMPLES = ["is:bounced since:7d", "to:@gmail.com", "tag:welcome", '"reset your password"']

/** Returns the search with the day before today, and no other dates. */
const yesterdayIn = (text: string): string =>
  SearchText.withValues(SearchText.withValues(text, "since", ["yesterday"]), "until", ["today"])

/** Returns the search for emails of these statuses; of the last one, if there is no search for all of them. */
const withStatuses = (text: string, statuses: ReadonlyArray<string>): string =>
  SearchText.withValues(
    text,
    "is",
    SearchedStatus.filtersOf(statuses, undefined) === undefined ? statuses.slice(-1) : statuses,
  )

interface Props {
  readonly typed: TypedText
  readonly context: SearchContext
  readonly onChange: (text: string) => void
  /** The search that the words are read as, because they find nothing. */
  readonly read: string | undefined
  /** How many emails there are. */
  readonly found: string | undefined
  /** Actions on all of them. */
  readonly actions: ReactNode
}

export const EmailSearchBar = ({ actions, context, found, onChange, read, typed }: Props) => {
  const input = useRef<HTMLInputElement>(null)
  const { isPending, setText, text } = typed
  const asTyped = useMemo(() => EmailSearch.parse(text, context), [text, context])
  const reading = read ?? (asTyped.isUnderstood ? undefined : MeantSearch.readingsOf(text, context)[0])
  const searched = reading ?? text
  const { chips } = reading === undefined ? asTyped : EmailSearch.parse(reading, context)
  const isWrong = !asTyped.isUnderstood && !isPending && reading === undefined
  const suggestions = reading === undefined ? suggestionsOf(text, context) : []
  const change = (next: string) => {
    setText(next)
    onChange(next)
  }
  const insert = (word: string) => {
    setText(`${text} ${word}:`.trimStart())
    // The menu returns the focus to its button when it closes.
    setTimeout(() => input.current?.focus())
  }
  const inserting = ({ name, words }: (typeof INSERTED)[number]) => ({ name, onSelect: () => insert(words[0]) })
  return (
    <div className="flex flex-col gap-2">
      <FilterBar
        search={
          <div className="group relative w-full grow sm:w-auto sm:min-w-72 sm:basis-72">
            <SearchField
              className="block"
              input={input}
              label="Search emails"
              placeholder="Address, subject, tag, id or key:name"
              typed={typed}
              isInvalid={isWrong}
            />
            {text === "" ? (
              // Over the list, which keeps its place.
              <ul
                aria-label="Examples of searches"
                className="absolute top-full left-0 z-10 mt-1 hidden max-w-full flex-wrap gap-1.5 rounded-lg border border-line bg-raised p-1.5 shadow-float group-focus-within:flex"
              >
                {EXAMPLES.map((example) => (
                  <SearchButton key={example} text={example} onClick={() => change(example)} />
                ))}
              </ul>
            ) : undefined}
          </div>
        }
      >
        <FilterSelect
          label="Status"
          choices={STATUSES}
          selected={SearchText.valuesOf(text, "is")}
          onChange={(statuses) => change(withStatuses(text, statuses))}
        />
        <Menu
          align="start"
          trigger={<Button icon={<Plus size={14} />}>Filter</Button>}
          items={[
            ...INSERTED.filter((each) => !isOfTime(each)).map(inserting),
            "separator",
            ...INSERTED.filter(isOfTime).map(inserting),
            { name: "Yesterday", onSelect: () => change(yesterdayIn(text)) },
          ]}
        />
        <SavedViews search={text.trim()} onSelect={change} />
      </FilterBar>
      {chips.length === 0 && suggestions.length === 0 ? undefined : (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1.5">
          {reading === undefined ? undefined : (
            <p role="status" className="sr-only">
              Read as <UntrustedText text={reading} />
            </p>
          )}
          <ul aria-label="Search filters" className="flex min-w-0 grow flex-wrap items-center gap-1.5">
            {reading === undefined ? undefined : <li className="text-xs text-ink-2">Read as</li>}
            {chips.map((chip) => (
              <ChipItem
                key={`${chip.start} ${chip.value}`}
                chip={chip}
                isBad={chip.problem !== undefined && isWrong}
                onRemove={() => change(SearchText.without(searched, chip))}
              />
            ))}
            {suggestions.map(({ name, text: next }) => (
              <SearchButton key={name} text={name} onClick={() => change(next)} />
            ))}
            {reading === undefined ? undefined : (
              <li>
                <Button small onClick={() => change(`"${text.replaceAll('"', "")}"`)}>
                  Search as text
                </Button>
              </li>
            )}
            {chips.length === 0 ? undefined : (
              <li>
                <Button variant="ghost" small onClick={() => change("")}>
                  Clear filters
                </Button>
              </li>
            )}
          </ul>
          <p role="status" className="tabular text-xs text-ink-3 first-letter:uppercase">
            {found}
          </p>
          {actions}
        </div>
      )}
      {searchHints(searched, context).map((hint) => (
        <UntrustedText as="p" key={hint} className="text-xs text-ink-2" text={hint} />
      ))}
    </div>
  )
}

/** A search that is offered. */
const SearchButton = ({ onClick, text }: { readonly text: string; readonly onClick: () => void }) => (
  <li>
    <button
      type="button"
      // The box keeps the focus, also where buttons do not take it, so that the button stays until it is clicked.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onClick}
      className="h-7 rounded-lg border border-dashed border-line-strong px-2 text-xs text-ink-2 hover:bg-hover"
    >
      <UntrustedText text={text} />
    </button>
  </li>
)

interface ChipProps {
  readonly chip: EmailSearch.Chip
  /** Whether it is not understood, and is no longer typed. */
  readonly isBad: boolean
  readonly onRemove: () => void
}

const ChipItem = ({ chip, isBad, onRemove }: ChipProps) => (
  <li
    className={cx(
      "inline-flex min-h-7 max-w-full items-center gap-1.5 rounded-lg pr-1 pl-2 text-xs",
      isBad ? "bg-bad-soft text-bad" : "bg-hover",
    )}
  >
    <span className={isBad ? "shrink-0 font-medium" : "shrink-0 text-ink-3"}>{chip.name}</span>
    <UntrustedText className="min-w-0 truncate font-medium" text={chip.value} />
    <button
      type="button"
      aria-label={`Remove filter ${chip.name}`}
      onClick={onRemove}
      className="rounded-md p-1 text-ink-3 hover:text-ink"
    >
      <X size={12} />
    </button>
  </li>
)
