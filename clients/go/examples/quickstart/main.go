package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	mneme "github.com/mneme-ai/mneme/clients/go"
	commonv1 "github.com/mneme-ai/mneme/clients/go/mneme/common/v1"
	gatewayv1 "github.com/mneme-ai/mneme/clients/go/mneme/gateway/v1"
)

func main() {
	target := mneme.DefaultTarget
	if len(os.Args) > 1 {
		target = os.Args[1]
	}
	client, err := mneme.NewClient(target)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	ctx := context.Background()

	remembered, err := client.Memory.Remember(ctx, &gatewayv1.RememberRequest{
		UserId:         "ada-go",
		ConversationId: "monday",
		Turns: []*commonv1.Turn{
			{Role: commonv1.MessageRole_MESSAGE_ROLE_USER, Speaker: "Ada", Content: "I moved to Lisbon in March."},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	recalled, err := client.Memory.Recall(ctx, &gatewayv1.RecallRequest{
		UserId:           "ada-go",
		Query:            "Where does Ada live?",
		ConsistencyToken: remembered.GetConsistencyToken(), // the write above is visible to this call
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, memory := range recalled.GetMemories() {
		fmt.Printf("%s: %s\n", memory.GetTurn().GetSpeaker(), memory.GetTurn().GetContent())
	}

	request := &gatewayv1.ListConversationsRequest{UserId: "ada-go"}
	conversations := (*gatewayv1.ListConversationsResponse).GetConversations
	for conversation, err := range mneme.Pages(ctx, client.Conversations.ListConversations, request, conversations) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("conversation:", conversation.GetConversationId())
	}

	_, err = client.Memory.Recall(ctx, &gatewayv1.RecallRequest{UserId: "ada-go"})
	if failure := (*mneme.Error)(nil); errors.As(err, &failure) {
		fmt.Println("error:", failure.Reason, failure.Violations[0].FieldPath)
	}
}
