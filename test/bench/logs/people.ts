/** Recipients with realistic names: half as many as mails, at a few providers. */
const FIRST_NAMES = [
  ..."ana ben carla david elena felix grace hannah ivan julia karim laura marco nina omar paula quentin rosa samuel".split(
    " ",
  ),
  ..."tara uma victor wendy xenia yusuf zoe amelia bruno chloe diego emma fatima george helen isaac jonas kira liam".split(
    " ",
  ),
  ..."maya noah".split(" "),
]
const LAST_NAMES = [
  ..."smith garcia mueller rossi silva kowalski nguyen tanaka ivanov johansson brown martin schmidt ferrari santos".split(
    " ",
  ),
  ..."nowak tran suzuki petrov andersson jones bernard weber romano oliveira wojcik pham takahashi sokolov lindberg".split(
    " ",
  ),
  ..."taylor dubois fischer greco pereira zielinski hoang watanabe popov karlsson wilson moreau wagner conti costa".split(
    " ",
  ),
  ..."kaminski vu yamamoto orlov berg".split(" "),
]
const PROVIDERS = ["gmail.com", "gmail.com", "outlook.com", "yahoo.co.uk", "icloud.com", "gmx.de"]

const list = (items: ReadonlyArray<string>) => `(ARRAY['${items.join("', '")}'])`

/** The recipient of the nth of some mails as SQL of `n`. Each has about two mails, which lie far from each other. */
export const recipientSql = (mails: number): string => {
  const person = `(n::bigint * 7919 % ${Math.ceil(mails / 2)})`
  return `${list(FIRST_NAMES)}[1 + ${person} % ${FIRST_NAMES.length}] || '.' ||
    ${list(LAST_NAMES)}[1 + ${person} / ${FIRST_NAMES.length} % ${LAST_NAMES.length}] || ${person} || '@' ||
    ${list(PROVIDERS)}[1 + ${person} % ${PROVIDERS.length}]`
}

/** The recipient of the nth mail that is sent while searches run. */
export const recipient = (n: number): string =>
  `${FIRST_NAMES[n % FIRST_NAMES.length]}.${LAST_NAMES[(n >> 3) % LAST_NAMES.length]}${n}@${PROVIDERS[n % PROVIDERS.length]}`
