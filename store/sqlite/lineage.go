package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// noUpgrade is what a database of a program that was never released is told.
const noUpgrade = "a berth from between two releases made it, and there is no upgrade of it; run the program that made it, or start with an empty data directory"

// shape is what a database has: the columns of its tables, each with its type and whether it may be NULL, and its indexes.
type shape struct {
	tables  map[string]map[string]string // by name
	indexes map[string]bool
}

// checkLineage fails if the database is not as the migrations make it: the number of its schema alone does not say which ones it has seen, since
// programs from between releases numbered others the same.
func checkLineage(ctx context.Context, c *sql.Conn, seen []migration) (err error) {
	has, err := shapeOf(ctx, c)
	if err != nil {
		return err
	}
	pool, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	model, err := pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	for _, m := range seen {
		if _, err := model.ExecContext(ctx, m.text); err != nil {
			return fmt.Errorf("migrate: %s: %w", m.name, err)
		}
	}

	want, err := shapeOf(ctx, model)
	if err != nil {
		return err
	}
	if differs := want.missing(has); differs != "" {
		return fmt.Errorf("its schema says that it is version %d, and is another one: %s; %s", len(seen), differs, noUpgrade)
	}
	return nil
}

// shapeOf reads the shape of a database.
func shapeOf(ctx context.Context, c *sql.Conn) (s shape, err error) {
	s = shape{map[string]map[string]string{}, map[string]bool{}}
	rows, err := c.QueryContext(ctx, `SELECT m.type, m.name, coalesce(p.name, ''), coalesce(p.type || ' ' || p."notnull", '') FROM sqlite_schema m
LEFT JOIN pragma_table_info(m.name) p ON m.type = 'table' WHERE m.type = 'table' OR m.sql IS NOT NULL`)
	if err != nil {
		return s, fmt.Errorf("read the schema: %w", err)
	}
	defer func() { _ = rows.Close() }() // Err has its error

	for rows.Next() {
		var kind, name, column, is string
		if err := rows.Scan(&kind, &name, &column, &is); err != nil {
			return s, fmt.Errorf("read the schema: %w", err)
		}
		switch {
		case kind != "table":
			s.indexes[name] = true
		case s.tables[name] == nil:
			s.tables[name] = map[string]string{column: is}
		default:
			s.tables[name][column] = is
		}
	}
	if err := rows.Err(); err != nil {
		return s, fmt.Errorf("read the schema: %w", err)
	}
	return s, nil
}

// missing names the first thing that is not as it should be; empty: all is. Tables and indexes of others do no harm.
func (s shape) missing(has shape) string {
	for _, table := range slices.Sorted(maps.Keys(s.tables)) {
		columns, there := has.tables[table]
		if !there {
			return "it has no table " + table
		}
		for _, column := range slices.Sorted(maps.Keys(s.tables[table])) {
			if columns[column] != s.tables[table][column] {
				return "table " + table + " has no such column " + column
			}
		}
		for _, column := range slices.Sorted(maps.Keys(columns)) {
			if _, known := s.tables[table][column]; !known {
				return "table " + table + " has a column " + column
			}
		}
	}
	for _, index := range slices.Sorted(maps.Keys(s.indexes)) {
		if !has.indexes[index] {
			return "it has no index " + index
		}
	}
	return ""
}
