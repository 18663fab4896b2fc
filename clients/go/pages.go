package mneme

import (
	"context"
	"iter"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Page is a response of a list.
type Page interface{ GetNextPageToken() string }

// Pages iterates over the items of a list and makes the call for the next page when it is needed. An error ends it.
//
//	for fact, err := range mneme.Pages(ctx, client.Facts.ListFacts, request, (*semanticv1.ListFactsResponse).GetFacts) {
func Pages[Request proto.Message, Response Page, Item any](
	ctx context.Context,
	list func(context.Context, Request, ...grpc.CallOption) (Response, error),
	request Request,
	items func(Response) []Item,
) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		page := proto.CloneOf(request)
		for {
			response, err := list(ctx, page)
			if err != nil {
				yield(*new(Item), err)
				return
			}
			for _, item := range items(response) {
				if !yield(item, nil) {
					return
				}
			}
			if response.GetNextPageToken() == "" {
				return
			}
			message := page.ProtoReflect()
			token := message.Descriptor().Fields().ByName("page_token")
			message.Set(token, protoreflect.ValueOfString(response.GetNextPageToken()))
		}
	}
}
