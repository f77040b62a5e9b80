import type pg from "pg"

/** A table with rows of its own, and the statements that read and write them. */
export interface SavedTable {
  readonly name: string
  readonly out: string
  readonly into: string
}

/** Statements that make the same schemas again: some run before the rows of the tables, some after them. */
export interface SchemaStatements {
  readonly before: ReadonlyArray<string>
  readonly tables: ReadonlyArray<SavedTable>
  readonly after: ReadonlyArray<string>
}

/**
 * Reads the schemas of all cells from the catalog of the database, because migrations alone do not make them: partitions,
 * versions of read models and cells are made while the service runs. graphile-worker makes its own, and its jobs are only
 * wake-ups. The session must have an empty search path, so that every name is written with its schema.
 */
export const read = async (client: pg.Client): Promise<SchemaStatements> => {
  const texts = async (query: string) =>
    (await client.query<{ readonly text: string }>(query, [await schemasOf(client)])).rows.map(({ text }) => text)
  const tables = (
    await client.query<{ readonly name: string; readonly columns: string }>(TABLES, [await schemasOf(client)])
  ).rows
  return {
    before: [
      ...(await texts(SCHEMAS)),
      ...EXTENSIONS,
      ...(await texts(FUNCTIONS)),
      ...(await texts(SEQUENCES)),
      ...(await texts(CREATE_TABLES)),
      ...(await texts(STATISTICS)),
    ],
    tables: tables.map(({ columns, name }) => ({
      name,
      out: `COPY ${name} (${columns}) TO STDOUT`,
      into: `COPY ${name} (${columns}) FROM STDIN`,
    })),
    after: [
      ...(await texts(POSITIONS)),
      // An index or a constraint of a partitioned table takes over those that its partitions have.
      ...(await texts(constraints("c.relkind = 'r' AND k.contype IN ('p', 'u', 'x', 'c')"))),
      ...(await texts(indexes("c.relkind = 'r'"))),
      ...(await texts(PARTITIONS)),
      ...(await texts(constraints("c.relkind = 'p' AND k.contype IN ('p', 'u', 'x', 'c')"))),
      ...(await texts(indexes("c.relkind = 'p'"))),
      ...(await texts(constraints("k.contype = 'f' AND k.conparentid = 0"))),
      ...(await client.query<{ readonly text: string }>(MARKS)).rows.map(({ text }) => text),
    ],
  }
}

const schemasOf = async (client: pg.Client): Promise<ReadonlyArray<string>> => {
  // The server of a cell has no table of cells.
  const { rows: found } = await client.query(
    "SELECT FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass('public.cells')",
  )
  if (found.length === 0) return ["public"]
  const { rows } = await client.query<{ readonly name: string }>(`
    SELECT n.nspname AS name FROM pg_catalog.pg_namespace n
    WHERE n.nspname IN (SELECT c.name COLLATE "C" FROM public.cells c) ORDER BY 1`)
  return rows.map(({ name }) => name)
}

/** The mark by which processes recognize the database of a cell (`CellDatabase`). */
const MARKS = `
  SELECT pg_catalog.format('COMMENT ON SCHEMA public IS %L', d.description) AS text FROM pg_catalog.pg_description d
  WHERE d.classoid = 'pg_catalog.pg_namespace'::pg_catalog.regclass
    AND d.objoid = 'public'::pg_catalog.regnamespace AND d.description LIKE 'waybill cell %'`

/** Those of the first migration. Others that the database has are the operator's. */
const EXTENSIONS = ["pg_trgm", "btree_gin"].map((name) => `CREATE EXTENSION IF NOT EXISTS ${name} SCHEMA public`)

const OURS = "n.nspname = ANY ($1)"

const own = (catalog: string, oid: string) => `NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
  WHERE d.classid = 'pg_catalog.${catalog}'::pg_catalog.regclass AND d.objid = ${oid} AND d.deptype = 'e')`

const SCHEMAS = `
  SELECT pg_catalog.format('CREATE SCHEMA %I', n.nspname) AS text
  FROM pg_catalog.pg_namespace n WHERE ${OURS} AND n.nspname <> 'public' ORDER BY n.nspname`

const FUNCTIONS = `
  SELECT pg_catalog.pg_get_functiondef(p.oid) AS text
  FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  WHERE ${OURS} AND p.prokind = 'f' AND ${own("pg_proc", "p.oid")} ORDER BY p.oid`

const SEQUENCES = `
  SELECT pg_catalog.format('CREATE SEQUENCE %s AS %s START %s INCREMENT %s MINVALUE %s MAXVALUE %s CACHE %s%s',
    c.oid::pg_catalog.regclass, pg_catalog.format_type(s.seqtypid, NULL), s.seqstart, s.seqincrement, s.seqmin, s.seqmax,
    s.seqcache, CASE WHEN s.seqcycle THEN ' CYCLE' ELSE '' END) AS text
  FROM pg_catalog.pg_sequence s JOIN pg_catalog.pg_class c ON c.oid = s.seqrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE ${OURS} ORDER BY c.oid`

const OF_TABLES = `FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE ${OURS} AND c.relkind IN ('r', 'p') AND ${own("pg_class", "c.oid")}`

// A partition is made as a table of its own, and attached once it has its rows.
const CREATE_TABLES = `
  SELECT pg_catalog.format('CREATE %sTABLE %s (%s)%s%s', CASE c.relpersistence WHEN 'u' THEN 'UNLOGGED ' ELSE '' END,
    c.oid::pg_catalog.regclass, (
      SELECT pg_catalog.string_agg(pg_catalog.format('%I %s', a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod))
        || CASE WHEN a.attcollation <> t.typcollation THEN (
            SELECT pg_catalog.format(' COLLATE pg_catalog.%I', l.collname) FROM pg_catalog.pg_collation l WHERE l.oid = a.attcollation)
          ELSE '' END
        || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
        || coalesce((SELECT pg_catalog.format(' DEFAULT %s', pg_catalog.pg_get_expr(d.adbin, d.adrelid))
          FROM pg_catalog.pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum), ''), ', ' ORDER BY a.attnum)
      FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
    CASE WHEN c.relkind = 'p' THEN ' PARTITION BY ' || pg_catalog.pg_get_partkeydef(c.oid) ELSE '' END,
    ' WITH (' || pg_catalog.array_to_string(c.reloptions, ', ') || ')') AS text
  ${OF_TABLES} ORDER BY c.oid`

const STATISTICS = `
  SELECT pg_catalog.format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s',
    c.oid::pg_catalog.regclass, a.attname, a.attstattarget) AS text
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
  WHERE ${OURS} AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped AND a.attstattarget >= 0
  ORDER BY c.oid, a.attnum`

// Unlogged tables are empty after a crash as well.
const TABLES = `
  SELECT c.oid::pg_catalog.regclass::text AS name, (
    SELECT pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY a.attnum)
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
  ${OF_TABLES} AND c.relkind = 'r' AND c.relpersistence = 'p' ORDER BY c.oid`

const POSITIONS = `
  SELECT pg_catalog.format('SELECT pg_catalog.setval(%L, %s, %L)', s.seqrelid::pg_catalog.regclass,
      coalesce(pg_catalog.pg_sequence_last_value(s.seqrelid), s.seqstart),
      pg_catalog.pg_sequence_last_value(s.seqrelid) IS NOT NULL)
    || coalesce((SELECT pg_catalog.format('; ALTER SEQUENCE %s OWNED BY %s.%I', s.seqrelid::pg_catalog.regclass,
        d.refobjid::pg_catalog.regclass, a.attname)
      FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
      WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = s.seqrelid AND d.deptype = 'a'), '') AS text
  FROM pg_catalog.pg_sequence s JOIN pg_catalog.pg_class c ON c.oid = s.seqrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE ${OURS} ORDER BY c.oid`

// Since Postgres 18 NOT NULL is a constraint too; it is written with its column.
const constraints = (which: string) => `
  SELECT pg_catalog.format('ALTER TABLE %s ADD CONSTRAINT %I %s', c.oid::pg_catalog.regclass, k.conname,
    pg_catalog.pg_get_constraintdef(k.oid)) AS text
  FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE ${OURS} AND ${which} ORDER BY c.oid, k.contype <> 'p', k.conname`

const indexes = (which: string) => `
  SELECT pg_catalog.replace(pg_catalog.pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') AS text
  FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE ${OURS} AND ${which}
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = i.indexrelid)
  ORDER BY c.oid, i.indexrelid`

const PARTITIONS = `
  SELECT pg_catalog.format('ALTER TABLE %s ATTACH PARTITION %s %s', i.inhparent::pg_catalog.regclass,
    c.oid::pg_catalog.regclass, pg_catalog.pg_get_expr(c.relpartbound, c.oid)) AS text
  FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE ${OURS} AND c.relispartition AND c.relkind = 'r' ORDER BY c.oid`
