package waybill

import "context"

const (
	largestPage     = 100
	largestFeedPage = 1000
)

// Page is a part of a list. NextCursor is the `After` of the next page, or the `Before` if the page was read with it.
type Page[T any] struct {
	HasMore    bool   `json:"has_more"`
	NextCursor string `json:"next_cursor"`
	Data       []T    `json:"data"`
}

// Iterator reads all pages of a list, each only when needed:
//
//	for emails.Next() {
//		use(emails.Value())
//	}
//	if err := emails.Err(); err != nil { … }
type Iterator[T any] struct {
	read  func() (items []T, hasMore bool, err error)
	items []T
	value T
	ended bool
	err   error
}

// Next goes to the next item. It returns false at the end, and after an error.
func (i *Iterator[T]) Next() bool {
	for len(i.items) == 0 {
		if i.ended {
			return false
		}
		items, hasMore, err := i.read()
		i.items, i.err, i.ended = items, err, err != nil || !hasMore
	}
	i.value, i.items = i.items[0], i.items[1:]
	return true
}

// Value returns the current item.
func (i *Iterator[T]) Value() T { return i.value }

// Err returns the error that ended the iteration, if any.
func (i *Iterator[T]) Err() error { return i.err }

// pagesAfter iterates over a list whose query has these fields.
func pagesAfter[T any](limit *int, after *string, read func() (*Page[T], error)) *Iterator[T] {
	if *limit == 0 {
		*limit = largestPage
	}
	return &Iterator[T]{read: func() ([]T, bool, error) {
		page, err := read()
		if err != nil {
			return nil, false, err
		}
		*after = page.NextCursor
		return page.Data, page.HasMore, nil
	}}
}

// list reads one page with a query.
func list[T any](ctx context.Context, s *sender, operation string, query any) (*T, error) {
	values, err := queryOf(query)
	if err != nil {
		return nil, err
	}
	return send[T](ctx, s, operation, Call{Query: values})
}
